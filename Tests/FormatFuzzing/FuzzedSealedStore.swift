import Foundation
package import StoreFormats
import StoredObjectsCore
import StoredObjectsEncryption
package import StoredObjectsTestSupport
import TestFiles

/// Whole encrypted stores in which any file is damaged, opened with the right key.
///
/// Every value contains its own location, so that it can be verified without the original store;
/// one buffer lists all the others. The nonces are random: the same round creates a store with the
/// same content, but not with the same bytes.
package struct FuzzedSealedStore: FuzzedFormat {
  package let name: String
  package let limit = Duration.seconds(5)
  private let format: StoreFormat
  private let key = EncryptionKey(bytes: (0..<32).map { UInt8($0) })

  package init(_ format: StoreFormat) {
    (self.format, name) = (format, "sealed-" + format.rawValue)
  }

  /// Runs a closure with the path of a store that does not exist yet.
  private func withStore<Result>(_ body: (_ directory: String) throws -> Result) throws -> Result {
    try withTemporaryDirectory(in: .memory) { try body($0 + "/store") }
  }

  // MARK: Making

  package func makeFile(_ random: inout SeededGenerator) throws -> [UInt8] {
    try withStore { directory in
      let backend = try open(directory, readOnly: false)
      var listed: Set<String> = []
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        try commit(to: backend, &listed, &random)
        if Bool.random(using: &random) { try backend.checkpoint() }
      }
      // The store is left as by a killed process, or closed.
      if Bool.random(using: &random) { try backend.close() }
      let bytes = try StoreArchive(directory).bytes
      try backend.close()
      return bytes
    }
  }

  private func commit(
    to backend: any DirectoryBackend, _ listed: inout Set<String>, _ random: inout SeededGenerator
  ) throws {
    var changes = ChangeSetBuilder()
    for tableName in ["Alpha", "Beta"] {
      let table = try backend.table(named: tableName)
      changes.update(1, in: table, Self.value("row 1 of \(tableName)"))
      listed.insert("row 1 of \(tableName)")
      for row in UInt32(2)...20 where Int.random(in: 0..<4, using: &random) == 0 {
        changes.update(row, in: table, Self.value("row \(row) of \(tableName)"))
        listed.insert("row \(row) of \(tableName)")
      }
    }
    let number = Int.random(in: 0..<10, using: &random)
    changes.set("\(number)", Self.value("buffer \(number)"))
    listed.insert("buffer \(number)")
    for name in Self.orderedNames {
      let table = try backend.orderedTable(name)
      for number in 0..<300 where Int.random(in: 0..<4, using: &random) == 0 {
        changes.set(Array("\(number)".utf8), to: Self.value("key \(number) of \(name)"), in: table)
        listed.insert("key \(number) of \(name)")
      }
    }
    changes.set(Self.list, Array(listed.sorted().joined(separator: "\n").utf8))
    try backend.commit(changes.changeSet)
  }

  private static let list = "List"
  private static let orderedNames = [
    OrderedTableName("Keys", kind: .data), OrderedTableName("Alpha.title", kind: .index),
  ]

  /// Returns the value for a name: the name, followed by as many bytes as the name determines.
  private static func value(_ line: String) -> [UInt8] {
    // Row 1 contains the metadata that a check expects of a class.
    if line.hasPrefix("row 1 of ") { return metadata(line.hasSuffix("Alpha") ? 0 : 1) }
    let sum = line.utf8.reduce(7) { ($0 * 31 + Int($1)) % 251 }
    return Array(line.utf8) + [UInt8](repeating: UInt8(sum), count: sum % 40)
  }

  private static func metadata(_ classID: UInt8) -> [UInt8] {
    var buffer = DataBuffer()
    ClassMetadata(
      lastRowID: 20, classVersion: 0, classID: classID, salt: .init(1, 2), flags: nil
    ).write(to: &buffer)
    return buffer.bytes
  }

  package func fields(of file: [UInt8]) -> [Range<Int>] {
    // The beginnings and ends of files, and some places between.
    StoreArchive(damaged: file).files.flatMap { _, content in
      let edges = Array(content.prefix(96)) + Array(content.suffix(96))
      return (edges + Array(stride(from: content.lowerBound, to: content.upperBound, by: 61)))
        .filter { $0 + 4 <= content.upperBound }.map { $0..<$0 + 4 }
    }
  }

  // MARK: Reading

  package func read(_ file: [UInt8], _ random: inout SeededGenerator) throws -> Bool {
    try withStore { try read(StoreArchive(damaged: file), in: $0) }
  }

  private func read(_ archive: StoreArchive, in directory: String) throws -> Bool {
    try archive.write(to: directory)
    let found = try attempt { try lines(of: open(directory, readOnly: true)) }
    let check = try attempt { try self.check(directory) }
    let isSound = check.map { $0.isSound && $0.tornTailByteCount == nil } ?? false
    // Without a manifest, a store whose files are all missing can't be recognized.
    if isSound && archive.files.contains(where: { $0.name == "Commit.manifest" }) {
      guard let found, found.list == found.lines.sorted().joined(separator: "\n") else {
        throw FuzzFailure("a store is taken for sound, and lacks something")
      }
    }
    // Opening for writing repairs what it can, and must not find other data than before.
    _ = try attempt { try lines(of: open(directory, readOnly: false)) }
    return isSound
  }

  /// Returns the content of a store, each value by its name, and the store's own list of its
  /// content.
  private func lines(of backend: any DirectoryBackend) throws -> (lines: [String], list: String?) {
    defer { try? backend.close() }
    let image = try image(of: backend)
    var values: [(line: String, value: [UInt8])] = []
    for (table, records) in image.tables {
      values += records.map { ("row \($0.key) of \(table)", $0.value) }
    }
    for (name, value) in image.names where name != Self.list {
      values.append(("buffer \(name)", value))
    }
    for (table, keys) in image.keys {
      values += keys.map { key, value in
        ("key \(String(decoding: key, as: UTF8.self)) of \(table)", value)
      }
    }
    for (line, value) in values where value != Self.value(line) {
      throw FuzzFailure("something else was read as \(line) than was saved")
    }
    let list = image.names[Self.list].map { String(decoding: $0, as: UTF8.self) }
    return (values.map(\.line), list)
  }

  private func image(of backend: some StoreBackend) throws -> StoreImage {
    try StoreImage(of: backend)
  }

  /// Returns the result of a closure, or nil if it refuses the store.
  private func attempt<Result>(_ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch is StoreError {
      return nil
    } catch is ConformanceFailure {
      // A damaged file may give different answers to different questions.
      return nil
    }
  }

  private func open(_ directory: String, readOnly: Bool) throws -> any DirectoryBackend {
    var limits = CheckpointLimits()
    limits.logGrowth = 8 << 10
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    return try format.open(
      directory, access: readOnly ? .readOnly : .readWrite, durability: .none, limits: limits,
      key: key)
  }

  private func check(_ directory: String) throws -> StoreCheck {
    try format.backend.check(directory: directory, key: key) { _ in }
  }
}
