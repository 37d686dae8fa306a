package import Files
package import StoreFormats
package import StoredObjectsCore
package import StoredObjectsEncryption
package import StoredObjectsTestSupport
import TestFiles

/// The backends that are arguments of tests.
package enum TestedBackend: String, CaseIterable, Sendable {
  case memory
  case tokyoCabinet = "tokyo-cabinet"
  case cdb
  case encryptedTokyoCabinet = "tokyo-cabinet-encrypted"
  case encryptedCDB = "cdb-encrypted"

  /// The backends that keep a store in a directory.
  package static let onDisk = allCases.filter { $0 != .memory }
  /// The backends without encryption, which has separate tests.
  package static let plain: [TestedBackend] = [.memory, .tokyoCabinet, .cdb]
  /// One backend of each kind, for tests of the layers above backends.
  package static let usual = plain + [.encryptedTokyoCabinet]

  /// The format of the files; nil for memory.
  package var format: StoreFormat? {
    switch self {
    case .memory: nil
    case .tokyoCabinet, .encryptedTokyoCabinet: .tokyoCabinet
    case .cdb, .encryptedCDB: .cdb
    }
  }

  /// A key that takes no time to derive.
  package static let key = EncryptionKey(bytes: (0..<32).map { UInt8($0) })

  package var isEncrypted: Bool { self == .encryptedTokyoCabinet || self == .encryptedCDB }
  package var key: EncryptionKey? { isEncrypted ? Self.key : nil }

  /// The backend of the directory once it has been encrypted or decrypted.
  package var converted: TestedBackend {
    switch self {
    case .memory: .memory
    case .tokyoCabinet: .encryptedTokyoCabinet
    case .cdb: .encryptedCDB
    case .encryptedTokyoCabinet: .tokyoCabinet
    case .encryptedCDB: .cdb
    }
  }

  private func onDisk() throws -> StoreFormat {
    guard let format else { throw ConformanceFailure("Memory has no directory.") }
    return format
  }

  /// Opens a directory.
  package func open(
    _ directory: String, durability: Durability = .full, readOnly: Bool = false,
    sharing: StoreSharing = .exclusive, lockTimeout: Duration = .zero,
    limits: CheckpointLimits = .init(), in fileSystem: any FileSystem = SystemFiles.shared
  ) throws -> any DirectoryBackend {
    try onDisk().open(
      directory, access: readOnly ? .readOnly : .readWrite, durability: durability,
      sharing: sharing, lockTimeout: lockTimeout, limits: limits, key: key, in: fileSystem)
  }

  /// Opens a directory with a small log, so that little data takes all code paths.
  package func openSmall(
    _ directory: String, sharing: StoreSharing = .exclusive,
    in fileSystem: any FileSystem = SystemFiles.shared
  ) throws -> any DirectoryBackend {
    var limits = CheckpointLimits(logBytes: 8 << 10, filePart: 1 << 20, bulkBytes: 2000)
    limits.logGrowth = 8 << 10
    limits.segments = .small
    return try open(directory, sharing: sharing, limits: limits, in: fileSystem)
  }

  /// Checks a directory.
  package func check(
    _ directory: String, in fileSystem: any FileSystem = SystemFiles.shared
  ) throws -> StoreCheck {
    try onDisk().check(directory, key: key, in: fileSystem)
  }

  /// Salvages a directory.
  @discardableResult
  package func salvage(
    _ directory: String, to target: String, in fileSystem: any FileSystem = SystemFiles.shared
  ) throws -> SalvageReport {
    try onDisk().salvage(from: directory, to: target, key: key, in: fileSystem)
  }

  /// Encrypts a directory that is not encrypted, or decrypts one that is.
  package func convert(
    _ directory: String, in fileSystem: any FileSystem = SystemFiles.shared
  ) throws {
    try onDisk().convert(directory, from: key, to: converted.key, in: fileSystem)
  }

  /// Changes the key of a directory.
  package func changeKey(
    _ directory: String, to newKey: EncryptionKey, in fileSystem: any FileSystem
  ) throws {
    try onDisk().changeKey(directory, from: Self.key, to: newKey, in: fileSystem)
  }

  /// Runs a test with an empty location of this kind.
  package func withLocation(_ body: (any BackendLocation) throws -> Void) throws {
    guard let format else { return try body(MemoryLocation()) }
    try withTemporaryDirectory {
      try body(DirectoryLocation(format, $0 + "/store", key: key))
    }
  }
}

/// A directory in which backends are opened.
package struct DirectoryLocation: BackendLocation {
  package let format: StoreFormat
  package let directory: String
  package let key: (any StoreKey)?
  package let sharing: StoreSharing

  package init(
    _ format: StoreFormat, _ directory: String, key: (any StoreKey)? = nil,
    sharing: StoreSharing = .exclusive
  ) {
    (self.format, self.directory, self.key) = (format, directory, key)
    self.sharing = sharing
  }

  package func open(readOnly: Bool) throws -> any StoreBackend {
    try format.open(
      directory, access: readOnly ? .readOnly : .readWrite, sharing: sharing, key: key)
  }
}
