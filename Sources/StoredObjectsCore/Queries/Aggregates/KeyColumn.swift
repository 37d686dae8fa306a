import StoreEngine

/// A reader of one property in the keys of an index, which skips the values before it.
struct KeyColumn<Value> {
  /// The position of the property in the index.
  let position: Int
  /// Whether the column is read from the first value of a key, or from after another column.
  let isFromBeginning: Bool
  let skips: [KeyForm]
  let value: (inout KeyReader) -> Value?

  /// Creates a column, or returns nil if a value before it can't be read.
  ///
  /// If the property comes after the `other` one, keys are read from the end of that column on.
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

  /// Moves the reader to the value; returns false if the key can't be read.
  @inline(__always)
  func find(_ reader: inout KeyReader) -> Bool {
    for form in skips where !reader.skip(form) { return false }
    return true
  }

  /// Reads the value; returns nil if the key can't be read.
  @inline(__always)
  func read(_ reader: inout KeyReader) -> Value? { find(&reader) ? value(&reader) : nil }
}
