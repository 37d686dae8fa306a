import CDB
import Foundation
import TestFiles

/// The bytes of a file.
func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

/// The names in a directory, in order.
func names(_ directory: String) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
}

/// A key and its value.
struct Pair: Hashable, Sendable {
  let key: [UInt8]
  let value: [UInt8]

  init(_ key: [UInt8], _ value: [UInt8]) {
    self.key = key
    self.value = value
  }

  init(_ key: String, _ value: String) { self.init(Array(key.utf8), Array(value.utf8)) }
}

/// All records of a reader, in the order of the file.
func records(_ reader: CDBReader) throws -> [Pair] {
  var pairs: [Pair] = []
  var cursor = reader.cursor()
  while try cursor.next() { pairs.append(Pair(cursor.key, cursor.value)) }
  return pairs
}

/// A file of these records.
@discardableResult
func write(
  _ pairs: [Pair], to path: String, format: CDBFormat = .classic,
  ifPresent policy: CDBWriter.DuplicatePolicy = .add
) throws -> CDBReader {
  let writer = try CDBWriter(path, format: format)
  for pair in pairs { try writer.add(pair.value, forKey: pair.key, ifPresent: policy) }
  try writer.finish()
  return try CDBReader(path, format: format)
}

/// The error that a call throws; nil when it throws none, or another.
func failure(_ body: () throws -> Void) -> CDBError? {
  do {
    try body()
    return nil
  } catch { return error as? CDBError }
}

/// The `cdb` tool of tinycdb (Debian package tinycdb), a second opinion on the files.
enum Tool {
  static let path = ["/usr/bin/cdb", "/usr/local/bin/cdb"]
    .first(where: FileManager.default.isExecutableFile)

  /// Whether it is there; tests that need it are skipped otherwise.
  static let isInstalled = path != nil

  /// Records in the form that `cdb -c` reads and `cdb -d` writes.
  static func text(_ pairs: [Pair]) -> [UInt8] {
    var text: [UInt8] = []
    for pair in pairs {
      text += Array("+\(pair.key.count),\(pair.value.count):".utf8) + pair.key
      text += Array("->".utf8) + pair.value + [10]
    }
    return text + [10]
  }

  /// Runs the tool with these bytes as its input.
  static func run(_ arguments: [String], input: [UInt8] = []) throws -> (Int32, [UInt8]) {
    try withTemporaryDirectory { directory in
      let inputFile = URL(filePath: directory + "/input")
      try Data(input).write(to: inputFile)
      let process = Process()
      process.executableURL = URL(filePath: path ?? "/nowhere")
      process.arguments = arguments
      process.standardInput = try FileHandle(forReadingFrom: inputFile)
      let output = Pipe()
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return (process.terminationStatus, Array(bytes))
    }
  }
}
