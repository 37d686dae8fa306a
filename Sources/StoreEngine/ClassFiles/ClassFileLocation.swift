package import Files

/// The location of a class file, which may not exist yet.
public struct ClassFileLocation: Sendable {
  /// The name of the table, or `NamedBuffers`.
  public let className: String
  /// Whether the store is open for reading only.
  public let isReadOnly: Bool
  /// The file.
  package let file: FileLocation

  package init(_ file: FileLocation, className: String, isReadOnly: Bool) {
    (self.file, self.className, self.isReadOnly) = (file, className, isReadOnly)
  }

  /// The path for errors, from the time when the directory was opened.
  public var path: String { file.path }

  /// The path for opening the file, which leads through the open directory.
  public var openingPath: String { file.libraryPath }

  /// Returns the location for errors.
  ///
  /// - Parameters:
  ///   - rowID: The row of the error.
  ///   - offset: The offset in the file.
  /// - Returns: The file, its class, and these.
  public func errorLocation(rowID: UInt32? = nil, offset: Int? = nil) -> StoreError.Location {
    .init(path: path, className: className, rowID: rowID, offset: offset)
  }
}

/// A class file to be created beside the one that it will replace.
public struct NewClassFile: Sendable {
  /// The location of the new file; an existing file there is removed.
  public let location: ClassFileLocation
  /// The mark of the file, at a place that readers ignore.
  public let mark: FileMark?
  /// Whether the file is synced.
  public let isSynced: Bool
  /// Whether the store is encrypted, so that a checksum of the whole file is useful.
  public let isEncrypted: Bool
  /// The owner and the permissions of the file.
  package let rights: FileRights
  /// The size from which the file gets the layout of large files, if a test has set it.
  package let testedSizeLimit: UInt64?

  package init(
    _ location: ClassFileLocation, rights: FileRights, mark: FileMark? = nil, isSynced: Bool,
    isEncrypted: Bool = false, testedSizeLimit: UInt64? = nil
  ) {
    (self.location, self.rights, self.mark) = (location, rights, mark)
    (self.isSynced, self.isEncrypted) = (isSynced, isEncrypted)
    self.testedSizeLimit = testedSizeLimit
  }
}

/// The changes to one class file.
public struct ClassFileChanges: Sendable {
  /// The changes of a table, or of the named buffers.
  public enum Content: Sendable {
    /// Changes of records, at most one for each row.
    case records([ChangeSet.RecordChange])
    /// Changes of named buffers, at most one for each name.
    case names([ChangeSet.NameChange])
  }

  /// The bytes that the ranges of the changes refer to.
  public let bytes: [UInt8]
  /// The changes.
  public let content: Content
  /// The old file, for errors.
  public let location: ClassFileLocation

  /// The number of changes.
  public var count: Int {
    switch content {
    case .records(let changes): changes.count
    case .names(let changes): changes.count
    }
  }

  /// Whether there is anything to write, and not only to delete.
  var writesAnything: Bool {
    switch content {
    case .records(let changes): changes.contains { $0.kind != .delete }
    case .names(let changes): changes.contains { $0.range != nil }
    }
  }

  /// Returns the error for an insert of an existing row.
  public func rowExists(_ rowID: UInt32) -> StoreError {
    StoreError(
      .rowExists, "The row exists already, and an insert must not overwrite it.",
      at: location.errorLocation(rowID: rowID))
  }
}
