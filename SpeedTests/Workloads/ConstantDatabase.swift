import CDB

/// The steps compared with libcdb; the same in C is in SpeedTests/Rivals/Sources/CDBRival.
package enum ConstantDatabase {
  /// A step that is timed.
  package enum Step: String, CaseIterable {
    /// Write a new file, which is not synced.
    case write
    /// Look up as many records as there are, in no order.
    case find
    /// Scan all records in the order of the file.
    case scan
  }

  private static let valueSize = 30

  /// Keys have no order, so that successive look-ups are spread over the whole file.
  @inline(__always)
  private static func key(_ index: UInt32) -> InlineArray<8, UInt8> {
    let number = (UInt64(index) + 1) &* 0x9E37_79B9_7F4A_7C15
    return InlineArray { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
  }

  /// Performs a step with a file of a number of records.
  ///
  /// - Throws: `CDBError`, or ``WrongResult``.
  package static func run(_ step: Step, _ path: String, _ count: UInt32) throws {
    switch step {
    case .write: try write(path, count)
    case .find: try check(find(CDBReader(path), count), count)
    case .scan: try check(scan(CDBReader(path)), count)
    }
  }

  private static func check(_ sum: Int, _ count: UInt32) throws {
    try expect(sum == Int(count) * (7 + valueSize), "the sum is \(sum)")
  }

  private static func write(_ path: String, _ count: UInt32) throws {
    let writer = try CDBWriter(path)
    var value = [UInt8](repeating: 7, count: valueSize)
    for index in 0..<count {
      for byte in 0..<4 { value[byte] = UInt8(truncatingIfNeeded: index >> (8 * UInt32(byte))) }
      let key = key(index)
      _ = try unsafe writer.add(value.span.bytes, forKey: key.span.bytes)
    }
    try writer.finish(synchronize: false)
  }

  private static func find(_ reader: CDBReader, _ count: UInt32) throws -> Int {
    var (sum, index) = (0, UInt32(1))
    for _ in 0..<count {
      index = index &* 1_664_525 &+ 1_013_904_223
      let row = UInt32(truncatingIfNeeded: UInt64(index) * UInt64(count) >> 32)
      let key = key(row)
      let found = try unsafe reader.withValue(forKey: key.span.bytes) {
        $0.byte(at: 4) + $0.byteCount
      }
      sum += found ?? 0
    }
    return sum
  }

  private static func scan(_ reader: CDBReader) throws -> Int {
    var sum = 0
    try reader.forEach { key, value in
      sum += (key.byte(at: 0) & 0) + value.byte(at: 4) + value.byteCount
    }
    return sum
  }
}
