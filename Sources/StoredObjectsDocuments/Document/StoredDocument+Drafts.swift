import Files
public import FoundationEssentials

/// An untitled document that is not open, for example because the program has crashed.
public struct DocumentDraft: Hashable, Sendable {
  /// The path, for ``StoredDocument/init(opening:as:access:key:)``.
  public let path: String
  /// The time of the last change.
  public let modified: Date
}

extension StoredDocument {
  /// Returns the untitled documents that no process has open, the last changed first.
  ///
  ///     for draft in try StoredDocument.drafts(of: .sketch) {
  ///       windows.show(try StoredDocument(opening: draft.path, as: .sketch))
  ///     }
  ///
  /// Call it when your application starts: these are documents that it had open when it crashed or
  /// was closed with ``DocumentClosing/keepingChanges``.
  ///
  /// Complexity: O(n log n) for n drafts; opens each folder, but no store.
  ///
  /// - Parameter type: The type of the documents.
  /// - Returns: The paths and times.
  /// - Throws: ``DocumentError`` with `ioError`.
  public static func drafts(of type: DocumentType) throws(DocumentError) -> [DocumentDraft] {
    let path = try draftsPath(of: type)
    return try documentErrors(at: path) {
      let location = FileLocation(path, in: type.fileSystem)
      guard try FileStatus.find(location) != nil else { return [] }
      let folder = try DirectoryHandle(location)
      removeLeftovers(in: folder)
      var drafts: [DocumentDraft] = []
      for name in try folder.entries() where name.hasSuffix("." + type.fileExtension) {
        if let modified = unusedDraft(name, in: folder) {
          drafts.append(DocumentDraft(path: joinedPath(path, name), modified: modified))
        }
      }
      return drafts.sorted { $0.modified > $1.modified }
    }
  }

  /// Returns the time of the last change of a draft; nil if it is open, or no draft.
  private static func unusedDraft(_ name: String, in folder: DirectoryHandle) -> Date? {
    let location = FileLocation(joinedPath(folder.path, name), in: folder.fileSystem)
    guard let lock = try? DirectoryHandle(location, shared: false) else { return nil }
    // A document that was replaced by a draft, see `place(_:from:at:in:replacing:)`.
    if (try? exists(lock.file(PackageFormat.partialMarker))) == true {
      withExtendedLifetime(lock) { removeTree(name, in: folder) }
      return nil
    }
    guard (try? exists(lock.file(PackageFormat.manifest))) == true else { return nil }
    let log = lock.file(PackageFormat.store + "/Commit.log")
    let status = (try? FileStatus.find(log)) ?? (try? FileStatus.find(location))
    guard let time = status?.modificationTime else { return nil }
    return Date(timeIntervalSince1970: Double(time) / 1e9)
  }

  /// Returns a path for a new untitled document.
  static func newDraftPath(of type: DocumentType) throws(DocumentError) -> String {
    let folder = try draftsPath(of: type)
    try documentErrors(at: folder) {
      try makeDirectories(folder, mode: 0o700, modeAbove: 0o700, in: type.fileSystem)
    }
    let number = PackageFormat.hexadecimal(UInt32.random(in: 0 ... .max))
    return joinedPath(folder, "Untitled-\(number).\(type.fileExtension)")
  }

  /// Whether a path without symbolic links is in the folder of drafts.
  static func isDraft(_ path: String, of type: DocumentType) -> Bool {
    guard let folder = try? draftsPath(of: type),
      let real = try? realPath(folder, in: type.fileSystem)
    else { return false }
    return directoryName(path) == real
  }

  private static func draftsPath(of type: DocumentType) throws(DocumentError) -> String {
    if let folder = type.draftsFolder { return folder }
    let environment = ProcessInfo.processInfo.environment
    var state = environment["XDG_STATE_HOME"] ?? ""
    // The specification ignores relative paths.
    if !state.hasPrefix("/") {
      guard let home = environment["HOME"], home.hasPrefix("/") else {
        throw DocumentError(
          .ioError, "There is neither XDG_STATE_HOME nor HOME: set DocumentType.draftsFolder.",
          at: "")
      }
      state = home + "/.local/state"
    }
    return "\(state)/\(type.identifier)/Drafts"
  }
}
