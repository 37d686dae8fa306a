/// Texts that are too large for memory, and the short ones that stand for them in values.
///
/// A stand-in has 32 random digits, so that no other text is one.
package final class LargeTexts<Source> {
  private let prefix = "large text \(ExternalID.random()) "
  private var sources: [Source] = []

  /// Makes an empty list.
  package init() {}

  /// Whether no text has a stand-in.
  package var isEmpty: Bool { sources.isEmpty }

  /// Returns the text that stands for another one.
  package func standIn(for source: Source) -> String {
    sources.append(source)
    return prefix + String(sources.count - 1)
  }

  /// Returns what a text stands for; nil for a text that is itself.
  package func source(of text: String) -> Source? {
    guard !sources.isEmpty, text.utf8.starts(with: prefix.utf8),
      let number = Int(text.dropFirst(prefix.count)),
      sources.indices.contains(number)
    else { return nil }
    return sources[number]
  }

  /// Forgets all texts.
  package func removeAll() { sources.removeAll(keepingCapacity: true) }
}

extension StoredValue {
  /// The value with other texts in the place of some, at any depth.
  ///
  /// - Parameter text: Returns the text in the place of another one; nil for one that stays.
  /// - Returns: the value with these texts.
  /// - Throws: what the closure throws.
  package func replacingTexts(_ text: (String) throws -> String?) rethrows -> StoredValue {
    switch self {
    case .string(let old): try text(old).map { .string($0) } ?? self
    case .array(let elements):
      .array(Elements(try elements.map { try $0.replacingTexts(text) }))
    case .dictionary(let fields):
      .dictionary(
        Fields(names: fields.keys, values: try fields.values.map { try $0.replacingTexts(text) }))
    default: self
    }
  }
}
