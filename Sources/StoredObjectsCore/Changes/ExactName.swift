/// The name of a buffer, byte by byte.
///
/// Swift takes strings for equal that are the same to a reader, such as an é in one scalar and in
/// two. In a file they are two keys, so they are two names everywhere.
struct ExactName: Hashable, Sendable, Comparable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: ExactName, right: ExactName) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  static func < (left: ExactName, right: ExactName) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}
