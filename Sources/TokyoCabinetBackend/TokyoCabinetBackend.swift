public import StoreEngine

/// A backend that keeps a store in a directory, with one Tokyo Cabinet hash file for each class.
///
///     let backend = try TokyoCabinetBackend(directory: "Music")
///
/// The directory has the format of a BNRPersistence store: a file has the name of its class, its
/// keys are row IDs (4 bytes, least significant first), its values records. The keys of the file
/// `NamedBuffers` are names. A class that was never saved has no file. `Commit.log` contains the
/// saves that are not in the class files yet; see `LoggedBackend`.
///
/// Safe on any thread. Look-ups run concurrently, and wait for no disk.
public typealias TokyoCabinetBackend = LoggedBackend<TokyoCabinetFormat>

/// The hash files of a store's directory, below its commit log.
public typealias TokyoCabinetFiles = ClassFiles<TokyoCabinetFormat>

extension ClassFileConfiguration where Format == TokyoCabinetFormat {
  /// The expected number of records of a class, if known, for which new files get enough buckets.
  public var expectedRecordCount: Int? {
    get { format.expectedRecordCount }
    set { format.expectedRecordCount = newValue }
  }

  /// The alignment of records in new files as a power of two; the default is 0, or any byte.
  ///
  /// With the default, a file is a quarter smaller than with the library's default of 16 bytes, and
  /// may grow to 4 GiB. Each power doubles the limit. A file that approaches the limit is rewritten
  /// with an alignment of 4 bytes, and near 16 GiB without a limit.
  public var alignmentPower: Int8 {
    get { format.alignmentPower }
    set { format.alignmentPower = newValue }
  }

  /// Creates a configuration for an expected number of records.
  public init(
    access: StoreAccess = .readWrite, createIfMissing: Bool = true,
    durability: Durability = .full, expectedRecordCount: Int?, alignmentPower: Int8 = 0
  ) {
    self.init(access: access, createIfMissing: createIfMissing, durability: durability)
    self.expectedRecordCount = expectedRecordCount
    self.alignmentPower = alignmentPower
  }
}
