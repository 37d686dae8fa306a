public import Logging
import StoreEngine

/// The configuration of a store.
public struct StoreConfiguration: Sendable {
  /// Whether each record of a new class begins with its class version; true by default.
  ///
  /// A store that BNRPersistence wrote without per-instance versioning needs false. Classes that
  /// were first saved by this library keep the setting they were saved with.
  public var versionsRecords: Bool

  /// Whether each record of a new class ends with a four-byte checksum; true by default.
  ///
  /// Every read verifies the checksum. Classes of BNRPersistence have none and stay as they are.
  public var checksumsRecords: Bool

  /// The logger for errors that can't be thrown: content that a getter could not read.
  public var logger: Logger

  /// The approximate memory for building a full-text index, in bytes; 256 MiB by default.
  ///
  /// The rest goes to temporary files in the store's directory. With less memory there are more of
  /// them, and building takes a little longer.
  public var indexingMemory: Int

  /// The author of this store's commits, in at most 255 bytes of UTF-8; empty by default.
  ///
  /// See ``/StoreEngine/Commit``.
  public var author: String

  /// The size in bytes above which an ``ExternalData`` is stored outside of its record.
  ///
  /// It is 16 KiB by default. A class can set another limit for a property:
  /// `@External(above: 4096)`, or in a class written by hand
  /// `buffer.write(cover, externalAbove: 4096)`.
  public var externalThreshold = defaultExternalThreshold

  /// The policy for objects that another store has saved since they were read.
  ///
  /// By default the save throws `conflict`. Inside of ``Store/transaction(attempts:_:)`` a conflict
  /// is always an error: the transaction runs again.
  public var conflictPolicy: ConflictPolicy

  static let defaultExternalThreshold = 16 << 10

  /// Creates a configuration.
  public init(
    versionsRecords: Bool = true, checksumsRecords: Bool = true,
    logger: Logger = Logger(label: "stored-objects"), indexingMemory: Int = 256 << 20,
    author: String = "", conflictPolicy: ConflictPolicy = .error
  ) {
    self.conflictPolicy = conflictPolicy
    self.indexingMemory = indexingMemory
    self.author = author
    self.versionsRecords = versionsRecords
    self.checksumsRecords = checksumsRecords
    self.logger = logger
  }

  var originalClassFormat: ClassMetadata.Flags { versionsRecords ? [] : .unversionedRecords }

  var newClassFormat: ClassMetadata.Flags {
    checksumsRecords ? originalClassFormat.union(.checksums) : originalClassFormat
  }
}
