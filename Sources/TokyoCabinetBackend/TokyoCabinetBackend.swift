public import StoreEngine

/// Keeps a store in a directory with one Tokyo Cabinet hash file for each class.
///
///     let backend = try TokyoCabinetBackend(directory: "Music")
///
/// The directory is that of a BNRPersistence store: a file is named as its class, its keys are row
/// IDs (4 bytes, least significant first), its values records; the file `NamedBuffers` has names
/// for keys. A class that was never saved has no file. `Commit.log` holds the saves that are not in
/// the class files yet; see `LoggedBackend`.
///
/// Safe on any threads. Look-ups run at the same time, and wait for no disk.
public typealias TokyoCabinetBackend = LoggedBackend<TokyoCabinetFiles>

/// The hash files of a store's directory, under its commit log.
public typealias TokyoCabinetFiles = ClassFiles<TokyoCabinetFormat>

extension ClassFileConfiguration where Format == TokyoCabinetFormat {
  /// How many records a class is going to have, if that is known: new files get enough buckets.
  public var expectedRecordCount: Int? {
    get { format.expectedRecordCount }
    set { format.expectedRecordCount = newValue }
  }

  /// Records in new files start at multiples of two to this power; the default is 0, at any byte.
  ///
  /// A file is then a quarter smaller than with the library's default of 16 bytes, and may grow
  /// to 4 GiB, for each power to twice as much. When it comes near that, it is rebuilt with
  /// multiples of 4 bytes, and near 16 GiB without a limit.
  public var alignmentPower: Int8 {
    get { format.alignmentPower }
    set { format.alignmentPower = newValue }
  }

  /// Describes how to open, for a number of records; what is left out is the default.
  public init(
    access: StoreAccess = .readWrite, createIfMissing: Bool = true,
    durability: Durability = .full, expectedRecordCount: Int?, alignmentPower: Int8 = 0
  ) {
    self.init(access: access, createIfMissing: createIfMissing, durability: durability)
    self.expectedRecordCount = expectedRecordCount
    self.alignmentPower = alignmentPower
  }
}
