import Files
import Locks

/// The file of one table: opened when it is first needed, and kept open for reading.
///
/// A reader keeps the file that it has begun with, also when another one takes its place, because
/// files are replaced by renaming and never written in place.
final class TableFile: Sendable {
  let name: String
  private let directory: StoreDirectory
  private let ownName: String
  private let openFile: Opener
  private let state: Locked<State>

  /// Opens a file of the store's format; nil when there is none.
  typealias Opener =
    @Sendable (_ location: ClassFileLocation, _ isOurs: Bool) throws(StoreError) -> (any ClassFile)?

  private struct State: Sendable {
    /// The name under which the file was found: a temporary one if a writer died before renaming
    /// it.
    var fileName: String
    /// Whether the manifest lists the file, or it has been there.
    var isNeeded: Bool
    var content = Content.unknown
    /// How often the file has been replaced.
    var generation: UInt64 = 0

    /// Has the next reader open another file.
    mutating func forget() {
      content = .unknown
      isNeeded = true
      generation += 1
    }
  }

  private enum Content: Sendable {
    case unknown
    /// There is no file; nobody else can make one while the directory is locked.
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
  }

  /// The file of a snapshot: that which is there now, and none where there is none.
  private init(_ other: TableFile, _ content: Content, _ generation: UInt64) {
    (name, directory, ownName) = (other.name, other.directory, other.ownName)
    openFile = { (_, _) throws(StoreError) in nil }
    let fileName = other.fileName
    state = Locked(
      State(fileName: fileName, isNeeded: false, content: content, generation: generation))
  }

  /// The file as it is now, which is never replaced.
  func frozen() throws(StoreError) -> TableFile {
    let (file, generation) = try current()
    return TableFile(self, file.map { .open($0) } ?? .missing, generation)
  }

  /// The name in the directory.
  var fileName: String { state.withLock { $0.fileName } }
  /// Whether the file has another name than its table, because a writer died.
  var isRedirected: Bool { fileName != ownName }
  /// The path, for errors.
  var path: String { directory.path(fileName) }
  /// Whether the manifest lists the file, or it has been there.
  var isNeeded: Bool { state.withLock { $0.isNeeded } }
  /// How often the file has been replaced.
  var generation: UInt64 { state.withLock { $0.generation } }

  /// Takes note that the manifest lists the file.
  func need() { state.withLock { $0.isNeeded = true } }

  /// Where the file is.
  func location() throws(StoreError) -> ClassFileLocation { try location(fileName) }

  private func location(_ fileName: String) throws(StoreError) -> ClassFileLocation {
    ClassFileLocation(
      try directory.file(fileName), className: name, isReadOnly: directory.isReadOnly)
  }

  /// The file, or nil when the table was never written.
  func file() throws(StoreError) -> (any ClassFile)? { try current().file }

  /// The file, if there is one, and how often it had been replaced when it was this one.
  func current() throws(StoreError) -> (file: (any ClassFile)?, generation: UInt64) {
    try state.withLock { (state) throws(StoreError) in
      switch state.content {
      case .open(let file): return (file, state.generation)
      case .missing: return (nil, state.generation)
      case .closed: throw StoreError(.closed, "The backend has been closed.")
      case .unknown:
        let found = try openFile(location(state.fileName), state.generation > 0)
        if found == nil, state.isNeeded { throw StoreError.fileGone(name, in: directory.path) }
        state.content = found.map { .open($0) } ?? .missing
        return (found, state.generation)
      }
    }
  }

  /// Puts a new file in the place of this one.
  func replace(by new: String) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      try systemErrors(at: directory.path(state.fileName)) {
        try renameFile(directory.file(new), directory.file(state.fileName))
      }
      if case .closed = state.content { return }
      state.forget()
    }
  }

  /// Removes the file, which has no records: afterwards the table is as if it had never been saved.
  func removeEmpty() {
    state.withLock { state in
      guard (try? removeFile(directory.file(ownName))) != nil else { return }
      if case .closed = state.content { return }
      (state.content, state.isNeeded) = (.missing, false)
    }
  }

  /// Reads a file that stands ready under another name, instead of renaming it.
  func redirect(to fileName: String) {
    state.withLock { state in
      state.fileName = fileName
      state.forget()
    }
  }

  /// Takes note that there is no file, without a look.
  func miss() { state.withLock { $0.content = .missing } }

  /// Opens the file again when it is next needed; there need not be one.
  func reopen() {
    state.withLock { state in
      if case .closed = state.content { return }
      state.fileName = ownName
      state.forget()
      state.isNeeded = false
    }
  }

  /// Closes the file, for good; readers that have it keep it.
  func close() { state.withLock { $0.content = .closed } }
}
