import Locks

/// The files of the tables that a backend has numbered, and that of the named buffers.
///
/// Apart from ``ClassFiles``, because code that is generic would look up types at each access.
final class TableFiles: Sendable {
  let buffers: TableFile
  private let make: @Sendable (_ name: String, _ isNeeded: Bool) -> TableFile
  private let state = Locked(State())

  private struct State {
    var files: [TableFile] = []
    /// The files that the manifest lists.
    var needed: Set<String> = []
    var isClosed = false
    /// Whether a table that has no number yet has no file, whatever others have put in place.
    var holdsFiles = false

    /// There are at most 255, so that a table is soon found.
    func number(_ name: String) -> Int? { files.firstIndex { $0.name == name } }
  }

  init<Format: ClassFileFormat>(_ directory: StoreDirectory, _ format: Format) {
    make = { name, isNeeded in
      TableFile(
        name, Format.fileName(ofTable: name), directory, isNeeded: isNeeded
      ) { (location, isOurs) throws(StoreError) in
        try format.open(location, isOurs: isOurs)
      }
    }
    buffers = make(StoreDirectory.buffers, false)
  }

  /// The files as they are now, for a snapshot, to which others have no files.
  private init(_ directory: StoreDirectory, _ files: [TableFile], buffers: TableFile) {
    make = { name, _ in
      TableFile(name, name, directory) { (_, _) throws(StoreError) in nil }
    }
    self.buffers = buffers
    state.withLock { $0.files = files }
  }

  /// The files as they are now, which are never replaced; all that are not open are opened.
  func frozen(_ directory: StoreDirectory) throws(StoreError) -> TableFiles {
    let files = try state.withLock { (state) throws(StoreError) in
      if state.isClosed { throw Self.closedError }
      return state.files
    }
    return TableFiles(
      directory, try files.map { (file) throws(StoreError) in try file.frozen() },
      buffers: try buffers.frozen())
  }

  /// Whether a table that has no number yet has no file, whatever others have put in place.
  var holdsFiles: Bool {
    get { state.withLock { $0.holdsFiles } }
    set { state.withLock { $0.holdsFiles = newValue } }
  }

  /// All files, that of the named buffers last.
  var all: [TableFile] { state.withLock { $0.files } + [buffers] }

  /// The number of a table, new or known, and its file.
  func number(of name: String) throws(StoreError) -> (Int, TableFile) {
    try state.withLock { (state) throws(StoreError) in
      if state.isClosed { throw Self.closedError }
      if let known = state.number(name) { return (known, state.files[known]) }
      let file = make(name, state.needed.contains(name))
      if state.holdsFiles { file.miss() }
      state.files.append(file)
      return (state.files.count - 1, state.files[state.files.count - 1])
    }
  }

  /// The file of a table that has a number.
  func file(_ table: TableID) throws(StoreError) -> TableFile {
    try state.withLock { (state) throws(StoreError) in
      if state.isClosed { throw Self.closedError }
      precondition(state.files.indices.contains(table.index), "a table of another backend")
      return state.files[table.index]
    }
  }

  /// The tables and named buffers that have files.
  func namesOfFiles() throws(StoreError) -> Set<String> {
    var names: Set<String> = []
    for file in all where try file.file() != nil { names.insert(file.name) }
    return names
  }

  func checkOpen() throws(StoreError) {
    if state.withLock({ $0.isClosed }) { throw Self.closedError }
  }

  private static var closedError: StoreError { StoreError(.closed, "The backend has been closed.") }

  /// Opens all files again when they are next needed; nobody knows which of them there are.
  func reopen() throws(StoreError) {
    try checkOpen()
    state.withLock { ($0.needed, $0.holdsFiles) = ([], false) }
    for file in all { file.reopen() }
  }

  /// Takes note of files that the manifest lists.
  func need(_ names: [String]) {
    state.withLock { $0.needed.formUnion(names) }
    for file in all where names.contains(file.name) { file.need() }
  }

  /// Takes note that the manifest lists some no more.
  func forget(_ names: [String]) { state.withLock { $0.needed.subtract(names) } }

  /// The tables that the manifest lists, or that have had files.
  var needed: Set<String> {
    state.withLock { state in
      state.needed.union(state.files.filter(\.isNeeded).map(\.name))
    }
  }

  /// Closes all files, for good.
  func close() {
    state.withLock { $0.isClosed = true }
    for file in all { file.close() }
  }
}
