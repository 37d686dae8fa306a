/// The name of a buffer, byte by byte.
///
/// Swift takes strings for equal that are the same to a reader, such as an é in one scalar and in
/// two. In a file they are two keys, so they are two names everywhere.
package struct ExactName: Hashable, Sendable, Comparable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: ExactName, right: ExactName) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  package static func < (left: ExactName, right: ExactName) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}
