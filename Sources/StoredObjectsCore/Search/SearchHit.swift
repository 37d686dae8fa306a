import StoreEngine

/// An object that a search has found.
public struct SearchHit<Object: StoredObject> {
  /// The object, with its content.
  public let object: Object
  /// The quality of the match: above 0, or 0 for a query of NOT only.
  ///
  /// Compare it with scores of the same search only. It is Okapi BM25 over all parts of the query
  /// and all attributes, multiplied by the weight of each attribute.
  public let score: Double

  @usableFromInline let search: HitSearch

  @usableFromInline init(object: Object, score: Double, search: HitSearch) {
    (self.object, self.score, self.search) = (object, score, search)
  }

  /// The part of a text that contains the match, about 80 characters long.
  ///
  /// It is computed on each access, from the current text of the object.
  public var snippet: SearchSnippet { snippet(length: 80) }

  /// Returns the part of a text that contains the match.
  ///
  /// The text is from the attribute with the most different parts of the query; among equals, from
  /// the first.
  ///
  /// Complexity: Linear in the length of the object's texts.
  ///
  /// - Parameter length: The maximum number of characters, at least 1.
  /// - Returns: The part of the text, and the positions of the matches in it.
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

/// A hit of a search in any class.
@usableFromInline struct FoundObject {
  /// The object, or nil if the row no longer exists.
  @usableFromInline let object: StoredObject?
  @usableFromInline let score: Double
  @usableFromInline let search: HitSearch
}

/// The data that all hits of a search share.
@usableFromInline final class HitSearch {
  let query: CompiledQuery
  /// The numbers of the searched attributes.
  let attributes: [Int]

  init(_ query: CompiledQuery, _ attributes: [Int]) {
    (self.query, self.attributes) = (query, attributes)
  }
}

extension FoldedText {
  /// Returns the bytes of the text that a match of a pattern covers, without surrounding spaces.
  fileprivate func origin(of pattern: TextPattern, at position: Int) -> Range<Int> {
    var (first, last) = (position, min(position + pattern.scalars.count, scalars.count) - 1)
    while first < last, scalars[first] == Self.space { first += 1 }
    while last > first, scalars[last] == Self.space { last -= 1 }
    return origins[first].lowerBound..<max(origins[first].lowerBound, origins[last].upperBound)
  }
}

/// A part of a text, with the positions of the matches.
public struct SearchSnippet: Hashable, Sendable {
  /// The name of the attribute, or an empty string if the object has no text.
  public let attribute: String
  /// The part of the text, as it is in the attribute.
  public let text: String
  /// The ranges of the matches in ``text``, in ascending order and without overlap.
  public let matches: [Range<String.Index>]
  /// Whether the attribute's text begins before this part.
  public let isCutAtStart: Bool
  /// Whether the attribute's text continues after this part.
  public let isCutAtEnd: Bool

  /// Returns the text with marks around each match, and … where it is cut.
  ///
  ///     hit.snippet.marked("<b>", "</b>")     // …sunny <b>Choice</b> of…
  ///
  /// This method does not escape the text. For output such as HTML, escape it first, using ``text``
  /// and ``matches``.
  ///
  /// Complexity: linear in the length of the text.
  ///
  /// - Parameters:
  ///   - start: The mark before a match.
  ///   - end: The mark after a match; nil for the same mark.
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
  /// Returns ranges in ascending order, with those that touch joined.
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

  /// Creates a snippet around the first match of a text.
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

  /// Returns the range to show: a quarter of it before the match, and whole words if possible.
  private static func window(
    of text: String, around match: Range<String.Index>?, _ length: Int
  ) -> Range<String.Index> {
    guard let limit = text.index(text.startIndex, offsetBy: length, limitedBy: text.endIndex),
      limit < text.endIndex
    else { return text.startIndex..<text.endIndex }
    let match = match ?? text.startIndex..<text.startIndex
    // If the text after the match does not fill the window, more is shown before it.
    let least = text.index(text.endIndex, offsetBy: -length)
    var start =
      text.index(match.lowerBound, offsetBy: -(length / 4), limitedBy: text.startIndex)
      ?? text.startIndex
    start = min(start, max(least, text.startIndex))
    start = wordStart(text, start, before: match.lowerBound)
    let end = text.index(start, offsetBy: length, limitedBy: text.endIndex) ?? text.endIndex
    return start..<wordEnd(text, end, after: min(match.upperBound, end))
  }

  /// Returns the start of the next word if a position is inside of one.
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
