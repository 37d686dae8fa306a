import Foundation
import StoredObjects

/// The directory of a store, checked before the store is opened.
///
/// Reading commands create no store, and an import writes no files into a directory of other files.
struct StoreDirectory {
  let path: String
  /// The kind of file at the path before the command.
  private let before: FileKind

  init(path: String) {
    self.path = path
    before = FileKind(at: path)
  }

  func checkBeforeOpening(for access: BackendChoice.Access) throws {
    guard !path.isEmpty else { throw Failure("Name the directory of the store with --store.") }
    switch before {
    case .file: throw Failure("\(quoted(path)) is a file, and a store is a directory.")
    case .missing where !access.mayMake:
      throw notThere("There is no directory \(quoted(path)).")
    case .missing: break
    case .directory: try checkForForeignFiles(access)
    }
  }

  /// Checks that an opened store has a music library.
  func check(_ library: Library, for access: BackendChoice.Access) throws {
    guard !access.mayMake, try library.isBlank else { return }
    throw noLibrary
  }

  /// Throws if a command that writes would add files to a directory of other files.
  private func checkForForeignFiles(_ access: BackendChoice.Access) throws {
    // If the directory can't be listed, the backend throws with the reason.
    guard access != .reading, let entries, !entries.contains(where: Self.files.contains) else {
      return
    }
    guard access.mayMake else { throw noLibrary }
    // An interrupted first import can leave hidden files.
    guard let stranger = entries.first(where: { !$0.hasPrefix(".") }) else { return }
    throw Failure(
      """
      \(quoted(path)) is not a store: it has other files, such as \(quoted(stranger)). \
      Give --store a new or an empty directory.
      """)
  }

  /// Removes a directory that the command has created, if nothing was saved.
  func removeIfMadeInVain() {
    let empty: Set = [Self.logName, "Commit.manifest", "NamedBuffers.cdb"]
    guard before == .missing, let entries, empty.isSuperset(of: entries) else { return }
    try? FileManager.default.removeItem(atPath: path)
  }

  private var entries: [String]? {
    try? FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  private var noLibrary: Failure { notThere("There is no music library in \(quoted(path)).") }

  private func notThere(_ what: String) -> Failure {
    Failure("\(what) Create one with \"jukebox import FILE --store DIR\".")
  }

  /// The files of a store.
  private static let files: Set = [
    "Song", "Playlist", "NamedBuffers", "Song.cdb", "Playlist.cdb", "NamedBuffers.cdb", logName,
  ]
  private static let logName = "Commit.log"
}

extension BackendChoice.Access {
  /// Whether a missing store is created.
  var mayMake: Bool {
    if case .making = self { true } else { false }
  }
}

extension Library {
  /// Whether nothing has been saved yet, not even an empty library.
  fileprivate var isBlank: Bool {
    get throws {
      try store.bufferNames().isEmpty && store.count(of: Song.self) == 0
        && store.count(of: Playlist.self) == 0
    }
  }
}
