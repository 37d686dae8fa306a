package import Files

/// The access that a store is opened with.
public enum StoreAccess: Sendable, Hashable {
  /// Reading and writing, by one backend of one process.
  case readWrite
  /// Reading only, as of the last commit before the opening.
  ///
  /// Any number of backends and processes read, also beside one that writes; they keep nobody out.
  /// Nothing is created.
  case readOnly
}

/// The processes that may have a store open for writing at the same time.
public enum StoreSharing: Sendable, Hashable {
  /// One backend of one process.
  case exclusive
  /// Any number of processes, and of backends in each. See <doc:Processes>.
  case processes
}

/// How a store's directory is opened, and how new files in it are laid out.
public struct ClassFileConfiguration<Format: ClassFileFormat>: Sendable, Hashable {
  /// The access that a store is opened with.
  public typealias Access = StoreAccess

  /// The access that the store is opened with; by default reading and writing.
  public var access: Access
  /// Whether a missing directory is made, with those above it; never when reading only.
  public var createIfMissing: Bool
  /// What a save survives; by default everything, power cuts included.
  public var durability: Durability
  /// How long an opening waits for a store that somebody else has open and does not share; by
  /// default not at all.
  ///
  /// In a shared store it is also how long a commit waits for those of other processes, 30 seconds
  /// at least.
  public var lockTimeout = Duration.zero
  /// The processes that may have the store open for writing; by default this one only.
  public var sharing = StoreSharing.exclusive
  /// The settings of the format.
  public var format = Format()
  /// The file system of the directory, which is another one in tests only.
  package var fileSystem: any FileSystem {
    get { reference.fileSystem }
    set { reference = FileSystemReference(fileSystem: newValue) }
  }
  private var reference = FileSystemReference(fileSystem: SystemFiles.shared)

  /// Describes how to open; what is left out is the default.
  public init(
    access: Access = .readWrite, createIfMissing: Bool = true, durability: Durability = .full
  ) {
    self.access = access
    self.createIfMissing = createIfMissing
    self.durability = durability
  }
}

/// A file system that is equal to itself alone.
private struct FileSystemReference: Sendable, Hashable {
  let fileSystem: any FileSystem

  static func == (first: Self, second: Self) -> Bool { first.fileSystem === second.fileSystem }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(fileSystem)) }
}
