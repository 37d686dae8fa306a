import CDBBackend
import Foundation
import StoredObjectsCore
import StoredObjectsEncryption
import StoredObjectsTestSupport
import TestFiles
import Testing
import TokyoCabinetBackend

/// What tests of directories do with a backend, whatever its files are.
protocol DiskStore: StoreBackend {
  func checkpoint() throws
  func compact(progress: (IntegrityProgress) -> Void) throws -> Int
  func backup(to directory: String, progress: (IntegrityProgress) -> Void) throws
}

extension LoggedBackend: DiskStore where Files: DirectoryFiles {}

/// The backends that keep a store in a directory, with and without encryption.
enum DiskBackend: String, CaseIterable, CustomTestStringConvertible {
  case tokyoCabinet, cdb, sealedTokyoCabinet, sealedCDB

  var testDescription: String { rawValue }
  var isSealed: Bool { self == .sealedTokyoCabinet || self == .sealedCDB }
  private var isCDB: Bool { self == .cdb || self == .sealedCDB }

  static let key = EncryptionKey(bytes: [UInt8](repeating: 7, count: EncryptionKey.byteCount))
  var key: EncryptionKey? { isSealed ? Self.key : nil }

  /// Opens a directory.
  func open(
    _ directory: String, durability: Durability = .full, readOnly: Bool = false
  ) throws -> any DiskStore {
    isCDB
      ? try CDBBackend(
        directory: directory,
        configuration: .init(access: readOnly ? .readOnly : .readWrite, durability: durability),
        key: key)
      : try TokyoCabinetBackend(
        directory: directory,
        configuration: .init(access: readOnly ? .readOnly : .readWrite, durability: durability),
        key: key)
  }

  /// Opens a directory with a log that is small, so that little data goes all ways.
  func openSmall(_ directory: String) throws -> any DiskStore {
    var limits = CheckpointLimits(logBytes: 8 << 10, filePart: 1 << 20, bulkBytes: 2000)
    limits.logGrowth = 8 << 10
    return isCDB
      ? try CDBBackend(files: CDBFiles(directory: directory), limits: limits, key: key)
      : try TokyoCabinetBackend(
        files: TokyoCabinetFiles(directory: directory), limits: limits, key: key)
  }

  /// Checks a directory.
  func check(_ directory: String) throws -> StoreCheck {
    isCDB
      ? try CDBBackend.check(directory: directory, key: key)
      : try TokyoCabinetBackend.check(directory: directory, key: key)
  }

  /// Salvages a directory.
  func salvage(_ directory: String, to target: String) throws {
    _ =
      isCDB
      ? try CDBBackend.salvage(from: directory, to: target, key: key)
      : try TokyoCabinetBackend.salvage(from: directory, to: target, key: key)
  }

  /// Encrypts a directory that is not encrypted, or decrypts one that is.
  func convert(_ directory: String) throws {
    switch self {
    case .tokyoCabinet: try TokyoCabinetBackend.encrypt(directory: directory, key: Self.key)
    case .cdb: try CDBBackend.encrypt(directory: directory, key: Self.key)
    case .sealedTokyoCabinet:
      try TokyoCabinetBackend.decrypt(directory: directory, key: Self.key)
    case .sealedCDB: try CDBBackend.decrypt(directory: directory, key: Self.key)
    }
  }

  /// What this backend is once its directory has been converted.
  var converted: DiskBackend {
    switch self {
    case .tokyoCabinet: .sealedTokyoCabinet
    case .cdb: .sealedCDB
    case .sealedTokyoCabinet: .tokyoCabinet
    case .sealedCDB: .cdb
    }
  }

  /// Everything in a directory, which is sound.
  func image(_ directory: String) throws -> StoreImage {
    let kinds: Set<StoreFinding.Kind> = [
      .fileDamaged, .foreignFile, .log, .directoryMoved, .countMismatch, .notAuthentic,
    ]
    #expect(try check(directory).findings.filter { kinds.contains($0.kind) } == [])
    let backend = try open(directory)
    defer { try? backend.close() }
    return try StoreImage(of: backend)
  }

  /// Writes a store with two tables, a buffer and an ordered table.
  func makeStore(_ directory: String) throws -> StoreImage {
    let backend = try open(directory)
    try write(1, to: backend)
    try backend.checkpoint()
    let image = try StoreImage(of: backend)
    try backend.close()
    return image
  }

  /// Writes to all kinds of files what tells the number of the save.
  func write(_ number: UInt8, to backend: any DiskStore) throws {
    let songs = try backend.table(named: "Song")
    let others = try backend.table(named: "Class\(number)")
    let words = try backend.orderedTable(OrderedTableName("Words", kind: .data))
    try backend.commit { changes in
      changes.update(2, in: songs, [number])
      changes.update(UInt32(number) + 10, in: songs, [number, number])
      changes.insert(2, in: others, [number])
      changes.set("Favorite", [number])
      changes.set([number], to: [number], in: words)
    }
  }
}

/// The names in a directory, and what is in these files.
func filesBelow(_ directory: String) throws -> [String: Data] {
  var files: [String: Data] = [:]
  for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
    files[name] = try Data(contentsOf: URL(filePath: directory + "/" + name))
  }
  return files
}
