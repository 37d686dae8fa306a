import StoreEngine

/// Reads one property from the keys of an index, and passes over those before it.
struct KeyColumn<Value> {
  /// The place of the property in the index.
  let position: Int
  /// Whether a key is read from its first value on, or from behind another column.
  let isFromBeginning: Bool
  let skips: [KeyForm]
  let value: (inout KeyReader) -> Value?

  /// Nil where a value before it can't be read.
  ///
  /// If the property comes after another one, keys are read from behind that.
  init?(
    _ index: AttributeIndex, _ position: Int, behind other: Int,
    _ read: @escaping (inout KeyReader) -> Value?
  ) {
    (self.position, value) = (position, read)
    isFromBeginning = other < 0 || position <= other
    var skips: [KeyForm] = []
    for property in index.properties[(isFromBeginning ? 0 : other + 1)..<position] {
      guard let form = KeyForm(type(of: property).valueType) else { return nil }
      skips.append(form)
    }
    self.skips = skips
  }

  /// Goes to the value in a key; false if the key can't be read.
  @inline(__always)
  func find(_ reader: inout KeyReader) -> Bool {
    for form in skips where !reader.skip(form) { return false }
    return true
  }

  /// Reads the value; nil if the key can't be read.
  @inline(__always)
  func read(_ reader: inout KeyReader) -> Value? { find(&reader) ? value(&reader) : nil }
}
