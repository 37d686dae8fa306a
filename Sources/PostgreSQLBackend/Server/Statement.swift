import Files
import FoundationEssentials
import StoreEngine

/// A statement and its parameters, which are never part of its text.
struct Statement: Sendable {
  let text: String
  let parameters: [Parameter]
  /// The name by which a session keeps the statement; nil for one that is sent with its text.
  let name: Name?
  /// Whether the transaction of the statements that are sent before it ends first.
  ///
  /// The answer is missing if this one fails, because the others are executed then.
  var isOfNextTransaction = false

  /// The statements that are sent most often.
  enum Name {
    case commit, commitRow, commitSmall, news, record, records, recordsBetween, page

    /// The name, which no other release uses for another text.
    var text: String {
      switch self {
      case .commit: "stored_objects_\(Schema.version)_commit"
      case .commitRow: "stored_objects_\(Schema.version)_commit_row"
      case .commitSmall: "stored_objects_\(Schema.version)_commit_small"
      case .news: "stored_objects_\(Schema.version)_news"
      case .record: "stored_objects_\(Schema.version)_record"
      case .records: "stored_objects_\(Schema.version)_records"
      case .recordsBetween: "stored_objects_\(Schema.version)_records_between"
      case .page: "stored_objects_\(Schema.version)_page"
      }
    }
  }

  init(_ text: String, _ parameters: [Parameter] = [], name: Name? = nil) {
    (self.text, self.parameters, self.name) = (text, parameters, name)
  }
}

extension Statement {
  /// Whether the statement begins an explicit transaction.
  var beginsTransaction: Bool { text.hasPrefix("begin") }
}

/// A parameter in the server's binary form.
struct Parameter: Sendable {
  /// The number of the type in the server.
  let type: UInt32
  let value: Value

  /// A value, which needs memory of its own only if it is long.
  enum Value: Sendable {
    case null
    /// A number of up to eight bytes.
    case number(UInt64, byteCount: Int)
    /// Sixteen bytes, the higher ones first.
    case pair(UInt64, UInt64)
    case bytes([UInt8])
  }

  private enum TypeID {
    static let (bool, bytes, int2, int4, int8, text) = (
      UInt32(16), UInt32(17), UInt32(21), UInt32(23), UInt32(20), UInt32(25)
    )
    static let (uuid, bytesArray, int2Array, int4Array) = (
      UInt32(2950), UInt32(1001), UInt32(1005), UInt32(1007)
    )
    static let (int8Array, textArray, uuidArray) = (UInt32(1016), UInt32(1009), UInt32(2951))
  }

  private init(_ type: UInt32, _ value: Value) { (self.type, self.value) = (type, value) }

  private init(_ type: UInt32, _ bytes: [UInt8]?) {
    self.init(type, bytes.map { .bytes($0) } ?? .null)
  }

  private init(_ type: UInt32, _ number: some FixedWidthInteger) {
    self.init(
      type, .number(UInt64(truncatingIfNeeded: number), byteCount: number.bitWidth / 8))
  }

  static func int(_ number: Int) -> Parameter { int(Int64(number)) }
  static func int(_ number: Int64?) -> Parameter {
    number.map { Parameter(TypeID.int8, $0) } ?? Parameter(TypeID.int8, .null)
  }
  /// Returns a parameter with the number of a commit, which always fits a signed number.
  static func int(_ number: UInt64?) -> Parameter { int(number.map { Int64(clamping: $0) }) }
  static func int4(_ number: Int32) -> Parameter { Parameter(TypeID.int4, number) }
  static func int2(_ number: Int16) -> Parameter { Parameter(TypeID.int2, number) }
  static func bool(_ isTrue: Bool) -> Parameter { Parameter(TypeID.bool, UInt8(isTrue ? 1 : 0)) }
  static func bytes(_ bytes: [UInt8]?) -> Parameter { Parameter(TypeID.bytes, bytes) }
  static func text(_ text: String) -> Parameter { Parameter(TypeID.text, Array(text.utf8)) }
  static func uuid(_ id: ExternalID) -> Parameter { Parameter(TypeID.uuid, id.bytes) }
  static func uuid(_ uuid: UUID?) -> Parameter {
    guard let token = uuid.map({ CommitToken($0) }) else { return Parameter(TypeID.uuid, .null) }
    return Parameter(TypeID.uuid, .pair(token.high, token.low))
  }

  // MARK: Arrays

  static func ints(_ numbers: [Int64?]) -> Parameter {
    var array = ArrayBuilder(TypeID.int8, numbers.count, hasNulls: true)
    for number in numbers {
      if let number { array.append(number) } else { array.appendNull() }
    }
    return Parameter(TypeID.int8Array, array.bytes)
  }
  static func int4s(_ numbers: [Int32]) -> Parameter {
    var array = ArrayBuilder(TypeID.int4, numbers.count)
    for number in numbers { array.append(number) }
    return Parameter(TypeID.int4Array, array.bytes)
  }
  static func int2s(_ numbers: [Int16]) -> Parameter {
    var array = ArrayBuilder(TypeID.int2, numbers.count)
    for number in numbers { array.append(number) }
    return Parameter(TypeID.int2Array, array.bytes)
  }
  static func texts(_ texts: [String]) -> Parameter {
    var array = ArrayBuilder(TypeID.text, texts.count)
    for text in texts { array.append(text.utf8) }
    return Parameter(TypeID.textArray, array.bytes)
  }
  static func uuids(_ ids: [ExternalID?]) -> Parameter {
    var array = ArrayBuilder(TypeID.uuid, ids.count, hasNulls: true)
    for id in ids {
      if let id { array.append(id.bytes) } else { array.appendNull() }
    }
    return Parameter(TypeID.uuidArray, array.bytes)
  }
  static func uuids(_ uuids: [UUID]) -> Parameter {
    var buffer = DataBuffer()
    for uuid in uuids { buffer.write(uuid) }
    var array = ArrayBuilder(TypeID.uuid, uuids.count)
    for index in uuids.indices { array.append(buffer.bytes[16 * index..<16 * index + 16]) }
    return Parameter(TypeID.uuidArray, array.bytes)
  }
  /// Arrays that are NULL.
  static let noBytesArray = Parameter(TypeID.bytesArray, nil)
  static let noInt4s = Parameter(TypeID.int4Array, nil)
  static let noInt2s = Parameter(TypeID.int2Array, nil)

  static func bytesArray(_ array: ByteArrays) -> Parameter {
    Parameter(TypeID.bytesArray, array.builder.bytes)
  }

  /// An array of bytes, filled element by element.
  struct ByteArrays: Sendable {
    fileprivate var builder: ArrayBuilder

    init(count: Int) { builder = ArrayBuilder(TypeID.bytes, count, hasNulls: true) }

    mutating func append(_ bytes: some Collection<UInt8>) { builder.append(bytes) }
    mutating func appendNull() { builder.appendNull() }
  }
}

/// An array of one dimension in the server's binary form.
///
/// It consists of the number of dimensions, whether there are NULLs, the type, the count, the lower
/// bound, and each element after its size. All these numbers have four bytes.
private struct ArrayBuilder: Sendable {
  private(set) var bytes: [UInt8] = []

  init(_ type: UInt32, _ count: Int, hasNulls: Bool = false) {
    append(raw: Int32(count == 0 ? 0 : 1))
    append(raw: Int32(hasNulls ? 1 : 0))
    append(raw: type)
    if count == 0 { return }
    append(raw: Int32(count))
    append(raw: Int32(1))
  }

  private mutating func append(raw number: some FixedWidthInteger) {
    bytes.append(bigEndian: number)
  }

  mutating func append(_ number: some FixedWidthInteger) {
    append(raw: Int32(number.bitWidth / 8))
    append(raw: number)
  }

  mutating func append(_ element: some Collection<UInt8>) {
    append(raw: Int32(element.count))
    bytes.append(contentsOf: element)
  }

  mutating func appendNull() { append(raw: Int32(-1)) }
}
