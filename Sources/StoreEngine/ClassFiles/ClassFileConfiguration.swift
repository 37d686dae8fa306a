package import Files

/// The access to a store.
public enum StoreAccess: Sendable, Hashable {
  /// Reading and writing, by one backend of one process.
  case readWrite
  /// Reading only, as of the last commit before the opening.
  ///
  /// Any number of backends and processes can read, even while another one writes; they exclude
  /// none of the others. Nothing is created.
  case readOnly
}

/// The processes that may have a store open for writing at the same time.
public enum StoreSharing: Sendable, Hashable {
  /// One backend of one process.
  case exclusive
  /// Any number of processes, and of backends in each. See <doc:Processes>.
  case processes
}

/// The options for opening a store's directory and for the layout of new files in it.
public struct ClassFileConfiguration<Format: ClassFileFormat>: Sendable, Hashable {
  /// The access to a store.
  public typealias Access = StoreAccess

  /// The access to the store; by default reading and writing.
  public var access: Access
  /// Whether to create a missing directory and its parents; ignored when reading only.
  public var createIfMissing: Bool
  /// The durability of saves; by default they survive everything, including power cuts.
  public var durability: Durability
  /// The maximum time to wait for a store that is open exclusively elsewhere; zero by default.
  ///
  /// In a shared store it is also the maximum time that a commit waits for those of other
  /// processes, but at least 30 seconds.
  public var lockTimeout = Duration.zero
  /// The processes that may have the store open for writing; by default only this one.
  public var sharing = StoreSharing.exclusive
  /// The settings of the format.
  public var format = Format()
  /// The file system of the directory; only tests use another one.
  package var fileSystem: any FileSystem {
    get { reference.fileSystem }
    set { reference = FileSystemReference(fileSystem: newValue) }
  }
  private var reference = FileSystemReference(fileSystem: SystemFiles.shared)

  /// Creates a configuration.
  public init(
    access: Access = .readWrite, createIfMissing: Bool = true, durability: Durability = .full
  ) {
    self.access = access
    self.createIfMissing = createIfMissing
    self.durability = durability
  }
}

/// A file system that is equal only to itself.
private struct FileSystemReference: Sendable, Hashable {
  let fileSystem: any FileSystem

  static func == (first: Self, second: Self) -> Bool { first.fileSystem === second.fileSystem }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(fileSystem)) }
}
