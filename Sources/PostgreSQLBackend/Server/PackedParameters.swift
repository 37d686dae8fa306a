/// The parameters of a statement as libpq takes them: addresses, lengths and formats.
///
/// A connection uses the same memory for all its statements.
struct PackedParameters {
  /// The bytes of all parameters except large ones.
  private var bytes: [UInt8] = []
  /// Where each parameter begins in the bytes; ``null`` for NULL, and ``elsewhere`` for a large one.
  private var places: [Int] = []
  private var lengths: [Int32] = []
  private var large: [(index: Int, bytes: [UInt8])] = []

  private static let (null, elsewhere) = (-1, -2)
  /// The size from which the bytes of a parameter are not copied.
  private static let largeByteCount = 16 << 10
  /// The format of each parameter: binary.
  private static let formats = [Int32](repeating: 1, count: 64)

  /// Packs the parameters of a statement, which has at most 64.
  mutating func pack(_ parameters: [Parameter]) {
    precondition(parameters.count <= Self.formats.count)
    bytes.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    lengths.removeAll(keepingCapacity: true)
    removeLarge()
    for (index, parameter) in parameters.enumerated() { pack(parameter.value, index) }
    // Without a byte, there may be no address, which would mean NULL.
    bytes.append(0)
  }

  /// Releases large parameters, which may have many megabytes.
  mutating func removeLarge() { large.removeAll() }

  private mutating func pack(_ value: Parameter.Value, _ index: Int) {
    let start = bytes.count
    switch value {
    case .null:
      places.append(Self.null)
      lengths.append(0)
      return
    case .number(let number, let byteCount): append(number, byteCount)
    case .pair(let high, let low):
      append(high, 8)
      append(low, 8)
    case .bytes(let value) where value.count < Self.largeByteCount: bytes += value
    case .bytes(let value):
      large.append((index, value))
      places.append(Self.elsewhere)
      lengths.append(Int32(value.count))
      return
    }
    places.append(start)
    lengths.append(Int32(bytes.count - start))
  }

  /// Appends the lowest bytes of a number, the highest of them first.
  private mutating func append(_ number: UInt64, _ byteCount: Int) {
    for place in (0..<byteCount).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(place))))
    }
  }

  /// Calls a closure with the addresses, lengths and formats, which are valid while it runs.
  func lend<Result>(
    _ body: (
      UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> Result
  ) -> Result {
    unsafe bytes.withUnsafeBytes { bytes in
      let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      return unsafe withUnsafeTemporaryAllocation(
        of: UnsafePointer<CChar>?.self, capacity: places.count
      ) { values in
        for (index, place) in places.enumerated() {
          unsafe values.initializeElement(
            at: index, to: place < 0 ? nil : start.map { unsafe $0 + place })
        }
        return unsafe lend(large[...], values, body)
      }
    }
  }

  /// Adds the addresses of large parameters.
  private func lend<Result>(
    _ large: ArraySlice<(index: Int, bytes: [UInt8])>,
    _ values: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>,
    _ body: (
      UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> Result
  ) -> Result {
    guard let (index, bytes) = large.first else {
      return unsafe lengths.withUnsafeBufferPointer { lengths in
        unsafe Self.formats.withUnsafeBufferPointer { formats in
          unsafe body(UnsafePointer(values.baseAddress), lengths.baseAddress, formats.baseAddress)
        }
      }
    }
    return unsafe bytes.withUnsafeBytes { bytes in
      unsafe values[index] = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      return unsafe lend(large.dropFirst(), values, body)
    }
  }
}
