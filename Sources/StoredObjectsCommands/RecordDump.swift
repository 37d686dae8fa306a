import Foundation
import RecordBrowsing
import StoredObjectsCore

/// Writes records in hex to the standard output, in bounded memory.
final class RecordDump {
  static let buffers = "NamedBuffers"

  private let backend: any StoreBackend
  private let isJSON: Bool
  private var text = ""

  init(backend: any StoreBackend, isJSON: Bool) {
    self.backend = backend
    self.isJSON = isJSON
  }

  /// Writes all classes, with their names as headings or as keys of an object.
  func writeAll(_ names: [String]) throws {
    if isJSON { emit("{") }
    for (index, name) in names.enumerated() {
      if isJSON {
        emit((index > 0 ? ",\n" : "\n") + (try quoted(name)) + ": ")
        try write(name)
      } else {
        emit("\(name)\n")
        try write(name, indent: "  ")
      }
    }
    if isJSON { emit("\n}\n") }
  }

  /// Writes one class.
  func write(_ name: String, indent: String = "") throws {
    var count = 0
    if isJSON { emit("[") }
    try records(name) { key, bytes in
      if isJSON {
        emit((count > 0 ? ",\n" : "\n") + "  {\"key\": \"\(key)\", \"bytes\": \"\(bytes)\"}")
      } else {
        emit("\(indent)\(key) \(bytes)\n")
      }
      count += 1
    }
    if isJSON { emit(count > 0 ? "\n]" : "]") }
  }

  /// Writes the collected output.
  func finish() throws {
    if isJSON, text.hasSuffix("]") { text += "\n" }
    try flush()
  }

  /// Returns the named buffers of the application, sorted; `schema` shows the layouts.
  static func bufferNames(_ backend: some StoreBackend) throws -> [String] {
    try backend.bufferNames().filter { !InternalBuffers.contain($0) }.sorted()
  }

  private func records(
    _ name: String, _ body: (_ key: String, _ bytes: String) throws -> Void
  ) throws {
    if name == Self.buffers {
      for buffer in try Self.bufferNames(backend) {
        let bytes = try backend.withNamedBuffer(buffer) { bytesOf($0) } ?? []
        try body(hexText(buffer.utf8), hexText(bytes))
        try flushIfLong()
      }
      return
    }
    if let ordered = try backend.orderedTableNames().first(where: { $0.description == name }) {
      return try keys(of: ordered, body)
    }
    let table = try backend.table(named: name)
    _ = try backend.scan(table, from: nil) { (rowID, record) throws(StoreError) in
      let key = (0..<4).map { UInt8(truncatingIfNeeded: rowID >> (8 * UInt32($0))) }
      try self.printing {
        try body(hexText(key), hexText(bytesOf(record)))
        try self.flushIfLong()
      }
      return .next
    }
  }

  private func keys(
    of name: OrderedTableName, _ body: (_ key: String, _ bytes: String) throws -> Void
  ) throws {
    let table = try backend.orderedTable(name)
    _ = try backend.scanKeys(of: table, KeyRange(), isReversed: false) {
      (key, value) throws(StoreError) in
      try self.printing {
        try body(hexText(bytesOf(key)), hexText(bytesOf(value)))
        try self.flushIfLong()
      }
      return .next
    }
  }

  /// Runs a closure that prints; a scan can only throw errors of a store.
  private func printing(_ body: () throws -> Void) throws(StoreError) {
    do {
      try body()
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.ioError, "The output can't be written.", underlying: error)
    }
  }

  private func quoted(_ text: String) throws -> String {
    String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
  }

  private func emit(_ part: String) { text += part }

  private func flushIfLong() throws {
    if text.utf8.count > 1 << 16 { try flush() }
  }

  private func flush() throws {
    try StandardOutput.write(text)
    text = ""
  }
}

/// Returns a copy of bytes.
func bytesOf(_ record: RawSpan) -> [UInt8] {
  let span = Span<UInt8>(_bytes: record)
  return span.indices.map { span[$0] }
}
