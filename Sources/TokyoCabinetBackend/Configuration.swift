public import StoreEngine

extension TokyoCabinetFiles {
  /// How a store's directory is opened, and how new files in it are laid out.
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
    /// How many records a class is going to have, if that is known: new files get enough buckets.
    public var expectedRecordCount: Int?
    /// Records in new files start at multiples of two to this power; the default is 0, at any byte.
    ///
    /// A file is then a quarter smaller than with the library's default of 16 bytes, and may grow
    /// to 4 GiB, for each power to twice as much. When it comes near that, it is rebuilt with
    /// multiples of 4 bytes, and near 16 GiB without a limit.
    public var alignmentPower: Int8

    /// Describes how to open; what is left out is the default.
    public init(
      access: Access = .readWrite, createIfMissing: Bool = true, durability: Durability = .full,
      expectedRecordCount: Int? = nil, alignmentPower: Int8 = 0
    ) {
      self.access = access
      self.createIfMissing = createIfMissing
      self.durability = durability
      self.expectedRecordCount = expectedRecordCount
      self.alignmentPower = alignmentPower
    }
  }
}
