package import Files

/// Where a class file is, or is to be.
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

  /// The path for errors: where the file was when the directory was opened.
  public var path: String { file.path }

  /// The path to open the file by: it leads through the open directory.
  public var openingPath: String { file.libraryPath }

  /// The place for errors.
  ///
  /// - Parameters:
  ///   - rowID: The row that an error is about.
  ///   - offset: Where in the file it is.
  /// - Returns: The file, its class, and these.
  public func errorLocation(rowID: UInt32? = nil, offset: Int? = nil) -> StoreError.Location {
    .init(path: path, className: className, rowID: rowID, offset: offset)
  }
}

/// A class file that is to be made, beside the one whose place it takes.
public struct NewClassFile: Sendable {
  /// Where it is made; what has its name is removed.
  public let location: ClassFileLocation
  /// The mark that it gets, where readers don't look.
  public let mark: FileMark?
  /// Whether it is brought to the disk.
  public let isSynced: Bool
  /// Whether the store is encrypted, so that a checksum of the whole file is of use.
  public let isEncrypted: Bool
  /// The owner and the mode that it gets.
  package let rights: FileRights
  /// The size from which on it is laid out for large files, when a test has set one.
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

/// The changes of one class file.
public struct ClassFileChanges: Sendable {
  /// The changes of a table, or of the named buffers.
  public enum Content: Sendable {
    /// Changes of records, at most one for each row.
    case records([ChangeSet.RecordChange])
    /// Changes of named buffers, at most one for each name.
    case names([ChangeSet.NameChange])
  }

  /// The bytes that the ranges of the changes lie in.
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

  /// The error of an insert that met a row.
  public func rowExists(_ rowID: UInt32) -> StoreError {
    StoreError(
      .rowExists, "The row is there already, and an insert must not overwrite it.",
      at: location.errorLocation(rowID: rowID))
  }
}
