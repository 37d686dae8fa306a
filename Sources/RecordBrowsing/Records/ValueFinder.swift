import StoreEngine

/// Finds the values of a record.
///
/// Only the program's own code knows the size of a value of a custom type. If the values after it
/// have fixed sizes, its size follows from theirs. Otherwise the finder guesses, in this order:
///
/// - The value is a count and bytes.
/// - It has the only size with which the values after it end with the record.
/// - It has the size of the values in other records.
struct ValueFinder {
  private let types: [StoredType]
  private let buffer: DataBuffer
  /// The size that most other records suggest.
  private let usualSize: Int?
  /// The sizes that are tried.
  private static let sizes = 0...4096

  init(_ types: [StoredType], _ buffer: DataBuffer, usualSize: Int?) {
    (self.types, self.buffer, self.usualSize) = (types, buffer, usualSize)
  }

  /// Whether the values of types can be found without an assumption.
  static func canFindAll(_ types: [StoredType]) -> Bool {
    guard let opaque = types.firstIndex(where: \.isOpaque) else { return true }
    return types[(opaque + 1)...].allSatisfy { $0.byteCount != nil }
  }

  /// Returns the ranges of the values as far as they can be found, and the index from which they
  /// depend on an assumption.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError`` for a record that does not fit its layout.
  mutating func ranges() throws(DataBufferError) -> (ranges: [Range<Int>], firstAssumed: Int?) {
    guard !types.isEmpty else { return ([], nil) }
    guard let opaque = types.firstIndex(where: \.isOpaque) else {
      return (try ranges(from: 0, buffer), nil)
    }
    var buffer = buffer
    var found: [Range<Int>] = []
    for type in types[..<opaque] { found.append(try Self.skip(type, &buffer)) }
    let sizes = types[(opaque + 1)...].map(\.byteCount)
    if !sizes.contains(nil) {
      let start = buffer.offset
      try buffer.skip(buffer.remainingCount - sizes.reduce(0) { $0 + ($1 ?? 0) })
      return (found + [start..<buffer.offset] + (try ranges(from: opaque + 1, buffer)), nil)
    }
    guard let rest = assumedRanges(from: opaque, buffer) else { return (found, nil) }
    return (found + rest, opaque)
  }

  private static func skip(
    _ type: StoredType, _ buffer: inout DataBuffer
  ) throws(DataBufferError) -> Range<Int> {
    let start = buffer.offset
    try buffer.skip(type.isOpaque ? .data : type)
    return start..<buffer.offset
  }

  /// Returns the ranges of the values from an index to the end of the record.
  private func ranges(from index: Int, _ start: DataBuffer) throws(DataBufferError) -> [Range<Int>]
  {
    var buffer = start
    var found: [Range<Int>] = []
    for type in types[index...] { found.append(try Self.skip(type, &buffer)) }
    guard buffer.remainingCount == 0 else {
      throw DataBufferError(
        .unreadBytes, at: buffer.offset, "\(buffer.remainingCount) bytes are left")
    }
    return found
  }

  private func assumedRanges(from index: Int, _ start: DataBuffer) -> [Range<Int>]? {
    if let found = try? ranges(from: index, start) { return found }
    if let usualSize, let found = ranges(from: index, start, size: usualSize) { return found }
    var only: [Range<Int>]?
    for size in Self.sizes where size <= start.remainingCount {
      guard let found = ranges(from: index, start, size: size) else { continue }
      if only != nil { return nil }
      only = found
    }
    return only
  }

  private func ranges(from index: Int, _ start: DataBuffer, size: Int) -> [Range<Int>]? {
    var buffer = start
    guard (try? buffer.skip(size)) != nil, let rest = try? ranges(from: index + 1, buffer) else {
      return nil
    }
    return [start.offset..<start.offset + size] + rest
  }
}
