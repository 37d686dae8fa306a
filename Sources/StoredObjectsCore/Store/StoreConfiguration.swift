public import Logging
import StoreEngine

/// How a store works.
public struct StoreConfiguration: Sendable {
  /// Whether each record of a new class begins with its class version.
  ///
  /// True unless told otherwise.
  ///
  /// A store of BNRPersistence that was used without per-instance versioning needs false. Classes
  /// that were first saved by this library say so themselves, and keep what they have.
  public var versionsRecords: Bool

  /// Whether each record of a new class ends with a checksum, four bytes, that every reading
  /// checks.
  ///
  /// True unless told otherwise. Classes of BNRPersistence have none and stay as they are.
  public var checksumsRecords: Bool

  /// Where the store reports what it can't throw: content that could not be read by a getter.
  public var logger: Logger

  /// About how much memory the making of a full-text index may take, in bytes; 256 MiB by default.
  ///
  /// What does not fit waits in temporary files in the store's directory. Less memory makes more of
  /// them, and takes a little longer.
  public var indexingMemory: Int

  /// Who saves, as commits say it, in at most 255 bytes of UTF-8; empty by default.
  ///
  /// See ``/StoreEngine/Commit``.
  public var author: String

  /// The size in bytes above which an ``ExternalData`` is stored outside of its record; 16 KiB by
  /// default.
  ///
  /// A class may have another limit for a property: `@External(above: 4096)`, by hand
  /// `buffer.write(cover, externalAbove: 4096)`.
  public var externalThreshold = defaultExternalThreshold

  /// What a save does with objects that another store has saved since they were read; by default it
  /// throws `conflict`.
  ///
  /// Inside of ``Store/transaction(attempts:_:)`` a conflict is always an error: the transaction runs
  /// again.
  public var conflictPolicy: ConflictPolicy

  static let defaultExternalThreshold = 16 << 10

  /// Sets up a store.
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
