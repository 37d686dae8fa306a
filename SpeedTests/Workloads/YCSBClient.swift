import Foundation
import KeyValueStoreCore
import StoredObjectsCore
import WorkloadData

/// Records of ten fields, each of 100 bytes.
enum YCSBRecord {
  static let fieldSize = 100
  static let size = 10 * fieldSize

  static func key(_ number: UInt64) -> String { "user\(Zipfian.scattered(number))" }

  /// Returns a record of the number, followed by bytes that can't be compressed.
  static func make(_ number: UInt64, version: UInt64 = 0) -> Data {
    var bits = (number + 1) &* 0x9E37_79B9_7F4A_7C15 &+ version
    var words = InlineArray<125, UInt64>(repeating: number)
    for word in 1..<words.count {
      bits ^= bits << 13
      bits ^= bits >> 7
      bits ^= bits << 17
      words[word] = bits
    }
    return unsafe words.span.bytes.withUnsafeBytes { unsafe Data($0) }
  }

  /// Returns the number that ``make(_:version:)`` was called with; nil for other bytes.
  static func number(_ record: RawSpan) -> UInt64? {
    guard record.byteCount == size else { return nil }
    return unsafe record.unsafeLoadUnaligned(as: UInt64.self)
  }
}

/// A client that performs operations on random records.
struct YCSBClient {
  private let table: KeyValueTable
  private let hasLatest: Bool
  /// The number of records in the table.
  private var count: UInt64
  private var zipfian: Zipfian
  /// The records that were read last.
  private var records = [UInt8](repeating: 0, count: longestScan * YCSBRecord.size)
  private static let longestScan = 100
  var random = Shuffled()

  init(table: KeyValueTable, count: Int, hasLatest: Bool) {
    self.table = table
    self.count = UInt64(count)
    self.hasLatest = hasLatest
    zipfian = hasLatest ? Zipfian(below: count) : Zipfian()
  }

  mutating func perform(_ operation: YCSB.Operation, version: UInt64) throws {
    switch operation {
    case .read: try read(chosen())
    case .update:
      let number = chosen()
      try table.put(YCSBRecord.make(number, version: version), for: YCSBRecord.key(number))
    case .insert: try insert()
    case .scan: try scan(chosen())
    case .modify: try modify(chosen(), version: version)
    }
  }

  private mutating func chosen() -> UInt64 {
    let number = zipfian.next(&random)
    return hasLatest ? count - 1 - number : Zipfian.scattered(number) % count
  }

  /// Reads a record into the client's memory, as the programs in C do.
  private mutating func read(_ number: UInt64) throws {
    let found = try table.withBytes(of: YCSBRecord.key(number)) { record in
      take(record, 0)
      return YCSBRecord.number(record)
    }
    if found != number { throw WrongResult(description: "record \(number) is another") }
  }

  private mutating func take(_ record: RawSpan, _ index: Int) {
    let place = index * YCSBRecord.size..<(index + 1) * YCSBRecord.size
    unsafe records.withUnsafeMutableBytes { records in
      let target = unsafe UnsafeMutableRawBufferPointer(rebasing: records[place])
      unsafe record.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
    }
  }

  private mutating func insert() throws {
    try table.put(YCSBRecord.make(count), for: YCSBRecord.key(count))
    count += 1
    if hasLatest { zipfian.grow() }
  }

  private mutating func scan(_ number: UInt64) throws {
    let limit = 1 + random.next(below: Self.longestScan)
    var (count, first) = (0, UInt64?.none)
    try table.range(from: YCSBRecord.key(number)).limit(limit).forEachBytes { _, record in
      if count == 0 { first = YCSBRecord.number(record) }
      take(record, count)
      count += 1
    }
    if first != number { throw WrongResult(description: "record \(number) is not the first") }
  }

  private mutating func modify(_ number: UInt64, version: UInt64) throws {
    try read(number)
    var record = Data(records[..<YCSBRecord.size])
    let start = Int(version % 10) * YCSBRecord.fieldSize
    let field = start..<start + YCSBRecord.fieldSize
    record.replaceSubrange(field, with: YCSBRecord.make(number, version: version)[field])
    try table.put(record, for: YCSBRecord.key(number))
  }
}
