import Foundation
import StoredObjects

/// The directory of a store, checked before the store is opened.
///
/// Reading commands create no store, and an import writes no files into a directory of other files.
struct StoreDirectory: StorePlace {
  let path: String
  /// The backend of the option; nil for that of the store, or the default.
  let backend: BackendChoice?
  /// The kind of file at the path before the command.
  private let before: FileKind

  init(path: String, backend: BackendChoice?) {
    (self.path, self.backend) = (path, backend)
    before = FileKind(at: path)
  }

  var name: String { quoted(path) }

  var store: String { "The store in \(name)" }

  func checkBeforeOpening(for access: StoreAccess) throws {
    guard !path.isEmpty else { throw Failure("Name the directory of the store with --store.") }
    switch before {
    case .file: throw Failure("\(name) is a file, and a store is a directory.")
    case .missing where !access.mayMake:
      throw notThere("There is no directory \(name).")
    case .missing: break
    case .directory: try checkForForeignFiles(access)
    }
  }

  func open(for access: StoreAccess) throws -> any StoreBackend {
    try kept().open(path, for: access)
  }

  /// Returns the backend of the option, or that of the existing store.
  private func kept() throws -> BackendChoice {
    let found = BackendChoice.found(in: path)
    if let backend, let found, backend != found {
      throw Failure("\(store) uses \(found.rawValue). Remove the option --backend.")
    }
    return backend ?? found ?? .tokyoCabinet
  }

  /// Throws if a command that writes would add files to a directory of other files.
  private func checkForForeignFiles(_ access: StoreAccess) throws {
    // If the directory can't be listed, the backend throws with the reason.
    guard access != .reading, let entries, !entries.contains(where: Self.files.contains) else {
      return
    }
    guard access.mayMake else { throw noLibrary }
    // An interrupted first import can leave hidden files.
    guard let stranger = entries.first(where: { !$0.hasPrefix(".") }) else { return }
    throw Failure(
      """
      \(name) is not a store: it has other files, such as \(quoted(stranger)). \
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

  /// The files of a store.
  private static let files: Set = [
    "Song", "Playlist", "NamedBuffers", "Song.cdb", "Playlist.cdb", "NamedBuffers.cdb", logName,
  ]
  private static let logName = "Commit.log"
}
