public import StoreEngine

/// Keeps a store in a directory with one constant database for each class.
///
///     let backend = try CDBBackend(directory: "Music")
///     let store = Store(backend: backend)
///
/// A class `Song` is in `Song.cdb`, whose keys are made of row IDs and whose values are records;
/// `NamedBuffers.cdb` has names for keys. A class that was never saved has no file. `Commit.log`
/// holds the saves that are not in these files yet: a save costs one write to the log, and a
/// checkpoint every so often writes the files of the classes that have changed. What happens to
/// them is told at `LoggedBackend`.
///
/// The files are mapped into memory, and records are lent where they are: nothing is copied, and no
/// lock held meanwhile. They are never changed in place, so that each is whole at any moment.
///
/// Safe on any threads.
public typealias CDBBackend = LoggedBackend<CDBFiles>

extension LoggedBackend where Files == CDBFiles {
  /// How a store's directory is opened.
  public typealias Configuration = CDBFiles.Configuration

  /// Opens a directory and locks it, without waiting.
  ///
  /// What an earlier process has left unfinished is finished first. Class files are opened when
  /// they are first needed.
  ///
  /// With a key the store is encrypted, if it is new, and opened, if it is encrypted.
  ///
  /// - Throws: `StoreError` with `inUse` when another process, or another backend in this one, has
  ///   it open, and one of the two for writing; `damaged` when saves in the log are spoilt;
  ///   `encrypted`, `notEncrypted` or `wrongKey` when the key is not that of the store;
  ///   `ioError` when there is no such directory, or no permission.
  public convenience init(
    directory: String, configuration: Configuration = .init(), key: (any StoreKey)? = nil
  ) throws {
    try self.init(
      files: CDBFiles(directory: directory, configuration: configuration),
      durability: configuration.durability, key: key)
  }

  /// Checks a store that may not even open, without knowing its classes, and without changing it.
  ///
  /// First come the log and the files' structure; what is sound goes on to `BackendCheck`.
  ///
  /// Complexity: linear in the size of the files.
  ///
  /// - Throws: `StoreError` with `inUse`, `encrypted`, `notEncrypted` or `wrongKey`, or `ioError`
  ///   when the directory can't be read.
  public static func check(
    directory: String, key: (any StoreKey)? = nil,
    progress: (IntegrityProgress) -> Void = { _ in }
  ) throws -> StoreCheck {
    try CDBFiles(reading: directory).check(key: key, progress: progress)
  }
}

extension CDBFiles {
  /// How a store's directory is opened.
  public struct Configuration: Sendable, Hashable {
    /// What a store is opened for.
    public enum Access: Sendable, Hashable {
      /// Reading and writing, by one backend only.
      case readWrite
      /// Reading only, by any number of backends and processes. Nothing is created.
      case readOnly
    }

    /// What the store is opened for; by default reading and writing.
    public var access: Access
    /// Whether a missing directory is made, with those above it; never when reading only.
    public var createIfMissing: Bool
    /// What a save survives; by default everything, power cuts included.
    public var durability: Durability

    /// Describes how to open; what is left out is the default.
    public init(
      access: Access = .readWrite, createIfMissing: Bool = true, durability: Durability = .full
    ) {
      self.access = access
      self.createIfMissing = createIfMissing
      self.durability = durability
    }
  }
}
