import StoreEngine

/// An object that a search has found.
public struct SearchHit<Object: StoredObject> {
  /// The object, with its content.
  public let object: Object
  /// How well it matches, above 0, or 0 where only NOT was asked for.
  ///
  /// To be compared with others of the same search only: Okapi BM25 over all parts of the query and
  /// all attributes, each times its weight.
  public let score: Double

  @usableFromInline let search: HitSearch

  @usableFromInline init(object: Object, score: Double, search: HitSearch) {
    (self.object, self.score, self.search) = (object, score, search)
  }

  /// The part of a text in which the match is, about 80 characters long.
  ///
  /// It is made when it is asked for, of the text that the object has then.
  public var snippet: SearchSnippet { snippet(length: 80) }

  /// The part of a text in which the match is: of the attribute that has the most different parts
  /// of the query, of equals the first.
  ///
  /// Complexity: linear in the texts of the object.
  ///
  /// - Parameter length: How many characters it may have; at least 1.
  /// - Returns: That part of the text, and where the matches are in it.
  public func snippet(length: Int) -> SearchSnippet {
    let wanted = search.query.wanted
    var best = (count: -1, name: "", text: "", matches: [Range<Int>]())
    for attribute in search.attributes.map({ type(of: object).fullTextAttributes[$0] }) {
      guard let text = attribute.text(object) else { continue }
      let folded = FoldedText(text, keepsOrigins: true)
      var matches: [Range<Int>] = []
      var count = 0
      for pattern in wanted {
        let before = matches.count
        pattern.visit(folded) { matches.append(folded.origin(of: pattern, at: $0)) }
        if matches.count > before { count += 1 }
      }
      if count > best.count { best = (count, attribute.name, text, matches) }
    }
    return SearchSnippet(best.name, best.text, SearchSnippet.merged(best.matches), length)
  }
}

@available(*, unavailable) extension SearchHit: Sendable {}

/// A hit of a search, whatever the class.
@usableFromInline struct FoundObject {
  /// The object; nil for a row that is not there any more.
  @usableFromInline let object: StoredObject?
  @usableFromInline let score: Double
  @usableFromInline let search: HitSearch
}

/// What all hits of a search have in common, kept once.
@usableFromInline final class HitSearch {
  let query: CompiledQuery
  /// The numbers of the attributes that were searched.
  let attributes: [Int]

  init(_ query: CompiledQuery, _ attributes: [Int]) {
    (self.query, self.attributes) = (query, attributes)
  }
}

extension FoldedText {
  /// The bytes of the text that a pattern found at a place covers, without the spaces around it.
  fileprivate func origin(of pattern: TextPattern, at position: Int) -> Range<Int> {
    var (first, last) = (position, min(position + pattern.scalars.count, scalars.count) - 1)
    while first < last, scalars[first] == Self.space { first += 1 }
    while last > first, scalars[last] == Self.space { last -= 1 }
    return origins[first].lowerBound..<max(origins[first].lowerBound, origins[last].upperBound)
  }
}

/// A part of a text, in which the matches are marked.
public struct SearchSnippet: Hashable, Sendable {
  /// The name of the attribute; empty when the object has no text.
  public let attribute: String
  /// The part of the text, as it is in the attribute.
  public let text: String
  /// Where in ``text`` the matches are, in ascending order, and apart from each other.
  public let matches: [Range<String.Index>]
  /// Whether the attribute's text begins before it.
  public let isCutAtStart: Bool
  /// Whether the attribute's text goes on behind it.
  public let isCutAtEnd: Bool

  /// The text with something before and behind each match, and … where it is cut.
  ///
  ///     hit.snippet.marked("<b>", "</b>")     // …sunny <b>Choice</b> of…
  ///
  /// The text itself is left as it is: make what means something to the reader harmless first, by
  /// ``text`` and ``matches``.
  ///
  /// - Parameters:
  ///   - start: What stands before a match.
  ///   - end: What stands behind it; nil for the same.
  /// - Returns: The marked text.
  public func marked(_ start: String, _ end: String? = nil) -> String {
    var marked = isCutAtStart ? "…" : ""
    var position = text.startIndex
    for match in matches {
      marked += text[position..<match.lowerBound] + start + text[match] + (end ?? start)
      position = match.upperBound
    }
    return marked + text[position...] + (isCutAtEnd ? "…" : "")
  }
}

extension SearchSnippet {
  /// Ranges in ascending order, those that touch made one.
  static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
    var merged: [Range<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = merged.last, range.lowerBound <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }

  /// Cuts a text around its first match.
  init(_ attribute: String, _ text: String, _ matches: [Range<Int>], _ length: Int) {
    self.attribute = attribute
    let utf8 = text.utf8
    func index(_ offset: Int) -> String.Index { utf8.index(utf8.startIndex, offsetBy: offset) }
    let found = matches.map { index($0.lowerBound)..<index($0.upperBound) }
    let window = Self.window(of: text, around: found.first, max(1, length))
    isCutAtStart = window.lowerBound > text.startIndex
    isCutAtEnd = window.upperBound < text.endIndex
    let part = String(text[window])
    let start = text.utf8.distance(from: text.startIndex, to: window.lowerBound)
    self.text = part
    self.matches = found.filter { $0.overlaps(window) }.map { match in
      let clamped = match.clamped(to: window)
      let low = text.utf8.distance(from: text.startIndex, to: clamped.lowerBound) - start
      let high = text.utf8.distance(from: text.startIndex, to: clamped.upperBound) - start
      return part.utf8.index(
        part.startIndex, offsetBy: low)..<part.utf8.index(part.startIndex, offsetBy: high)
    }
  }

  /// The characters that are shown: a quarter of them before the match, whole words where there
  /// are.
  private static func window(
    of text: String, around match: Range<String.Index>?, _ length: Int
  ) -> Range<String.Index> {
    guard let limit = text.index(text.startIndex, offsetBy: length, limitedBy: text.endIndex),
      limit < text.endIndex
    else { return text.startIndex..<text.endIndex }
    let match = match ?? text.startIndex..<text.startIndex
    // What does not fill the window behind the match is shown before it.
    let least = text.index(text.endIndex, offsetBy: -length)
    var start =
      text.index(match.lowerBound, offsetBy: -(length / 4), limitedBy: text.startIndex)
      ?? text.startIndex
    start = min(start, max(least, text.startIndex))
    start = wordStart(text, start, before: match.lowerBound)
    let end = text.index(start, offsetBy: length, limitedBy: text.endIndex) ?? text.endIndex
    return start..<wordEnd(text, end, after: min(match.upperBound, end))
  }

  /// Leaves out the rest of a word that begins before a place.
  private static func wordStart(
    _ text: String, _ position: String.Index, before match: String.Index
  ) -> String.Index {
    guard position > text.startIndex, position < match else { return position }
    if text[text.index(before: position)].isWhitespace { return position }
    guard let space = text[position..<match].firstIndex(where: \.isWhitespace) else {
      return position
    }
    return text.index(after: space)
  }

  private static func wordEnd(
    _ text: String, _ position: String.Index, after match: String.Index
  ) -> String.Index {
    guard position < text.endIndex, position > match, !text[position].isWhitespace else {
      return position
    }
    return text[match..<position].lastIndex(where: \.isWhitespace) ?? position
  }
}
