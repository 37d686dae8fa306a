import Files
import Locks
import Synchronization

/// The file of one table: opened on demand, and kept open for reading.
///
/// A reader keeps the file that it began with, even if another one replaces it, because files are
/// replaced by renaming and never written in place.
final class TableFile: Sendable {
  let name: String
  private let directory: StoreDirectory
  private let ownName: String
  private let openFile: Opener
  private let state: Locked<State>
  /// The number of times the file has been replaced; changed under the lock of the state.
  private let replacementCount: Atomic<UInt64>

  /// Opens a file of the store's format; returns nil if it does not exist.
  typealias Opener =
    @Sendable (_ location: ClassFileLocation, _ isOurs: Bool) throws(StoreError) -> (any ClassFile)?

  private struct State: Sendable {
    /// The name of the file; a temporary one if a process died before renaming it.
    var fileName: String
    /// Whether the manifest lists the file, or it has existed.
    var isNeeded: Bool
    var content = Content.unknown
  }

  private enum Content: Sendable {
    case unknown
    /// There is no file; no other process can create one while the directory is locked.
    case missing
    case open(any ClassFile)
    case closed
  }

  init(
    _ name: String, _ fileName: String, _ directory: StoreDirectory, isNeeded: Bool = false,
    _ openFile: @escaping Opener
  ) {
    (self.name, self.directory, self.openFile) = (name, directory, openFile)
    ownName = fileName
    state = Locked(State(fileName: fileName, isNeeded: isNeeded))
    replacementCount = Atomic(0)
  }

  /// Creates the file of a snapshot: the present file, or none.
  private init(_ other: TableFile, _ content: Content, _ generation: UInt64) {
    (name, directory, ownName) = (other.name, other.directory, other.ownName)
    openFile = { (_, _) throws(StoreError) in nil }
    let fileName = other.fileName
    state = Locked(State(fileName: fileName, isNeeded: false, content: content))
    replacementCount = Atomic(generation)
  }

  /// Returns the present file, which is never replaced.
  func frozen() throws(StoreError) -> TableFile {
    let (file, generation) = try current()
    return TableFile(self, file.map { .open($0) } ?? .missing, generation)
  }

  /// The name in the directory.
  var fileName: String { state.withLock { $0.fileName } }
  /// Whether the file has a temporary name, because a process died.
  var isRedirected: Bool { fileName != ownName }
  /// The path, for errors.
  var path: String { directory.path(fileName) }
  /// Whether the manifest lists the file, or it has existed.
  var isNeeded: Bool { state.withLock { $0.isNeeded } }
  /// The number of times the file has been replaced.
  ///
  /// Every save asks for it, so it takes no lock.
  var generation: UInt64 { replacementCount.load(ordering: .acquiring) }

  /// Records that the manifest lists the file.
  func need() { state.withLock { $0.isNeeded = true } }

  /// Returns the location of the file.
  func location() throws(StoreError) -> ClassFileLocation { try location(fileName) }

  private func location(_ fileName: String) throws(StoreError) -> ClassFileLocation {
    ClassFileLocation(
      try directory.file(fileName), className: name, isReadOnly: directory.isReadOnly)
  }

  /// Returns the file, or nil if the table was never saved.
  func file() throws(StoreError) -> (any ClassFile)? { try current().file }

  /// Returns the file, or nil, and the number of times it had been replaced by then.
  func current() throws(StoreError) -> (file: (any ClassFile)?, generation: UInt64) {
    try state.withLock { (state) throws(StoreError) in
      switch state.content {
      case .open(let file): return (file, generation)
      case .missing: return (nil, generation)
      case .closed: throw StoreError(.closed, "The backend has been closed.")
      case .unknown:
        let found = try openFile(location(state.fileName), generation > 0)
        if found == nil, state.isNeeded { throw StoreError.fileGone(name, in: directory.path) }
        state.content = found.map { .open($0) } ?? .missing
        return (found, generation)
      }
    }
  }

  /// Makes the next reader open the file again, which another process has replaced.
  func forget() {
    state.withLock { state in
      switch state.content {
      case .open, .missing: forget(&state)
      case .unknown, .closed: break
      }
    }
  }

  /// Makes the next reader open another file.
  private func forget(_ state: inout State) {
    (state.content, state.isNeeded) = (.unknown, true)
    replacementCount.add(1, ordering: .acquiringAndReleasing)
  }

  /// Replaces the file by a new one.
  func replace(by new: String) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      try systemErrors(at: directory.path(state.fileName)) {
        try renameFile(directory.file(new), directory.file(state.fileName))
      }
      if case .closed = state.content { return }
      forget(&state)
    }
  }

  /// Removes the file, which has no records; then the table is as if it had never been saved.
  func removeEmpty() {
    state.withLock { state in
      guard (try? removeFile(directory.file(ownName))) != nil else { return }
      if case .closed = state.content { return }
      (state.content, state.isNeeded) = (.missing, false)
    }
  }

  /// Reads a complete file under its temporary name, instead of renaming it.
  func redirect(to fileName: String) {
    state.withLock { state in
      state.fileName = fileName
      forget(&state)
    }
  }

  /// Records that there is no file, without checking.
  func miss() { state.withLock { $0.content = .missing } }

  /// Makes the next access open the file again; it may be missing.
  func reopen() {
    state.withLock { state in
      if case .closed = state.content { return }
      state.fileName = ownName
      forget(&state)
      state.isNeeded = false
    }
  }

  /// Closes the file permanently; readers that have it keep it.
  func close() { state.withLock { $0.content = .closed } }
}
