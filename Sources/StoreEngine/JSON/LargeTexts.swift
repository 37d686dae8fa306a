/// Texts that are too large for memory, and the short placeholders for them in values.
///
/// A placeholder has 32 random digits, so that no other text equals one.
package final class LargeTexts<Source> {
  private let prefix = "large text \(ExternalID.random()) "
  private var sources: [Source] = []

  /// Creates an empty list.
  package init() {}

  /// Whether there are no placeholders.
  package var isEmpty: Bool { sources.isEmpty }

  /// Adds a large text, and returns its placeholder.
  package func standIn(for source: Source) -> String {
    sources.append(source)
    return prefix + String(sources.count - 1)
  }

  /// Returns the large text of a placeholder; nil for any other text.
  package func source(of text: String) -> Source? {
    guard !sources.isEmpty, text.utf8.starts(with: prefix.utf8),
      let number = Int(text.dropFirst(prefix.count)),
      sources.indices.contains(number)
    else { return nil }
    return sources[number]
  }

  /// Removes all texts.
  package func removeAll() { sources.removeAll(keepingCapacity: true) }
}

extension StoredValue {
  /// Returns the value with some of its texts replaced, at any depth.
  ///
  /// - Parameter text: Returns the replacement of a text; nil to keep it.
  /// - Returns: The value with the replacements.
  /// - Throws: An error of the closure.
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
