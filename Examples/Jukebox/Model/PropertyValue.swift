import Foundation
import StoredObjects

/// A value of a property list.
enum PropertyValue: Hashable, Sendable {
  case bool(Bool)
  case integer(Int64)
  /// An integer above the maximum of `Int64`.
  case unsigned(UInt64)
  case real(Double)
  case string(String)
  case date(Date)
  case data(Data)
  case array([PropertyValue])
  case dictionary([String: PropertyValue])
}

extension PropertyValue {
  /// The maximum depth of nested values; Foundation stops at 512.
  ///
  /// Without a limit, damaged bytes could overflow the stack.
  private static let depthLimit = 600

  /// The first byte of a value.
  ///
  /// Stores have these numbers, so they must not change.
  private enum Kind: UInt8, DataBufferValue {
    case bool, integer, unsigned, real, string, date, data, array, dictionary
  }
}

extension PropertyValue: DataBufferValue {
  init(from buffer: inout DataBuffer) throws(DataBufferError) {
    self = try Self.read(from: &buffer, depth: 0)
  }

  private static func read(
    from buffer: inout DataBuffer, depth: Int
  ) throws(DataBufferError) -> PropertyValue {
    guard depth < depthLimit else {
      throw DataBufferError(.invalidValue, at: buffer.offset, "values are nested too deep")
    }
    switch try buffer.read(Kind.self) {
    case .bool: return .bool(try buffer.readBool())
    case .integer: return .integer(try buffer.readInt64())
    case .unsigned: return .unsigned(try buffer.readUInt64())
    case .real: return .real(try buffer.readDouble())
    case .string: return .string(try buffer.readString())
    case .date: return .date(try buffer.readDate())
    case .data: return .data(try buffer.readData())
    case .array: return .array(try readArray(from: &buffer, depth: depth + 1))
    case .dictionary: return .dictionary(try readDictionary(from: &buffer, depth: depth + 1))
    }
  }

  private static func readArray(
    from buffer: inout DataBuffer, depth: Int
  ) throws(DataBufferError) -> [PropertyValue] {
    var values: [PropertyValue] = []
    // No capacity is reserved, because the count of damaged bytes can be any number.
    for _ in 0..<(try buffer.readUInt32()) { values.append(try read(from: &buffer, depth: depth)) }
    return values
  }

  private static func readDictionary(
    from buffer: inout DataBuffer, depth: Int
  ) throws(DataBufferError) -> [String: PropertyValue] {
    var values: [String: PropertyValue] = [:]
    for _ in 0..<(try buffer.readUInt32()) {
      let key = try buffer.readString()
      values[key] = try read(from: &buffer, depth: depth)
    }
    return values
  }

  func write(to buffer: inout DataBuffer) {
    switch self {
    case .bool(let value): write(.bool, value, to: &buffer)
    case .integer(let value): write(.integer, value, to: &buffer)
    case .unsigned(let value): write(.unsigned, value, to: &buffer)
    case .real(let value): write(.real, value, to: &buffer)
    case .string(let value): write(.string, value, to: &buffer)
    case .date(let value): write(.date, value, to: &buffer)
    case .data(let value): write(.data, value, to: &buffer)
    case .array(let values): write(.array, values, to: &buffer)
    case .dictionary(let values):
      buffer.write(Kind.dictionary)
      Self.write(values, to: &buffer)
    }
  }

  private func write(_ kind: Kind, _ value: some DataBufferValue, to buffer: inout DataBuffer) {
    buffer.write(kind)
    value.write(to: &buffer)
  }

  /// Writes the keys in order, so that equal dictionaries have equal bytes.
  private static func write(_ values: [String: PropertyValue], to buffer: inout DataBuffer) {
    buffer.write(UInt32(values.count))
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      buffer.write(key)
      value.write(to: &buffer)
    }
  }
}
