import Foundation
import StoredObjectsCore

/// Writes the objects of a store with the names of their properties, and the errors of unreadable
/// objects.
struct ValueDump {
  private let export: RecordExport
  private let isJSON: Bool

  init(_ backend: any StoreBackend, isJSON: Bool) throws {
    export = try RecordExport(backend)
    self.isJSON = isJSON
  }

  /// Writes one class, or all.
  ///
  /// - Returns: Whether every object could be read.
  func write(_ className: String?) throws -> Bool {
    var isWhole = true
    for known in export.classes where className == nil || known.name == className {
      try export.forEachObject(of: known) { row, object in
        switch object {
        case .success(let value): try write(value)
        case .failure(let error):
          isWhole = false
          try write(known.name, row, error)
        }
      }
    }
    return isWhole
  }

  /// Whether the store has a class of a name.
  func has(_ className: String) -> Bool { export.classes.contains { $0.name == className } }

  private func write(_ value: ObjectValue) throws {
    guard !isJSON else { return try write(value.storedValue) }
    var lines = ["\(value.className)/\(value.rowID ?? 0)"]
    if let layout = value.layout { lines[0] += ", layout \(layout)" }
    for (name, value) in value.values { lines.append("  \(name): \(try Self.text(value))") }
    if let bytes = value.bytes { lines.append("  bytes: \(bytes)") }
    try StandardOutput.write(lines)
  }

  private func write(_ className: String, _ row: UInt32, _ error: any Error) throws {
    let id = "\(className)/\(row)"
    guard !isJSON else {
      return try write(["error": .string("\(error)"), "id": .string(id)] as StoredValue)
    }
    try StandardOutput.write([id, "  damaged: \(error)"])
  }

  private func write(_ value: StoredValue) throws {
    try StandardOutput.write([Self.text(value)])
  }

  static func text(_ value: StoredValue) throws -> String {
    var bytes: [UInt8] = []
    try JSONWriter.append(value, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}
