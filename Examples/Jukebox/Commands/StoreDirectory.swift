import Foundation
import StoredObjects

/// The directory of a store, looked at before and behind the store's back: so that no reading
/// command makes one, and no import strews files among those of somebody else.
struct StoreDirectory {
  let path: String
  /// What was there before the command.
  private let before: FileKind

  init(path: String) {
    self.path = path
    before = FileKind(at: path)
  }

  func checkBeforeOpening(for access: BackendChoice.Access) throws {
    guard !path.isEmpty else { throw Failure("Say with --store which directory holds the store.") }
    switch before {
    case .file: throw Failure("\(quoted(path)) is a file; a store is a directory.")
    case .missing where !access.mayMake:
      throw notThere("There is no directory \(quoted(path)).")
    case .missing: break
    case .directory: try checkForForeignFiles(access)
    }
  }

  /// Sees to it that an opened store is one of ours.
  func check(_ library: Library, for access: BackendChoice.Access) throws {
    guard !access.mayMake, try library.isBlank else { return }
    throw noLibrary
  }

  /// A directory of other files is not one to open for writing: that puts files there.
  private func checkForForeignFiles(_ access: BackendChoice.Access) throws {
    // One that can't be listed is left to the backend, which says why.
    guard access != .reading, let entries, !entries.contains(where: Self.files.contains) else {
      return
    }
    guard access.mayMake else { throw noLibrary }
    // Hidden files may be left from a first import that was cut short.
    guard let stranger = entries.first(where: { !$0.hasPrefix(".") }) else { return }
    throw Failure(
      """
      \(quoted(path)) is no store: it holds other files, such as \(quoted(stranger)). \
      Give --store a new or an empty directory.
      """)
  }

  /// Removes a directory that was made for a store that did not come to be: nothing was saved.
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
    Failure("\(what) Make one with \"jukebox import FILE --store DIR\".")
  }

  /// The files of a store.
  private static let files: Set = [
    "Song", "Playlist", "NamedBuffers", "Song.cdb", "Playlist.cdb", "NamedBuffers.cdb", logName,
  ]
  private static let logName = "Commit.log"
}

extension BackendChoice.Access {
  /// Whether a missing store is made.
  var mayMake: Bool {
    if case .making = self { true } else { false }
  }
}

extension Library {
  /// Whether nothing was ever saved, not even a library without songs.
  fileprivate var isBlank: Bool {
    get throws {
      try store.bufferNames().isEmpty && store.count(of: Song.self) == 0
        && store.count(of: Playlist.self) == 0
    }
  }
}
