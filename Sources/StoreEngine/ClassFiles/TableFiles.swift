import Locks

/// The files of the numbered tables of a backend, and of the named buffers.
///
/// It is separate from ``ClassFiles``, because generic code would look up types at each access.
final class TableFiles: Sendable {
  let buffers: TableFile
  private let make: @Sendable (_ name: String, _ isNeeded: Bool) -> TableFile
  private let state = Locked(State())

  private struct State {
    var files: [TableFile] = []
    /// The files that the manifest lists.
    var needed: Set<String> = []
    var isClosed = false
    /// Whether a table without a number counts as having no file, whatever others have published.
    var holdsFiles = false

    /// Returns the number of a table; there are at most 255, so a linear search is fast.
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

  /// Creates the files of a snapshot, in which other tables have no files.
  private init(_ directory: StoreDirectory, _ files: [TableFile], buffers: TableFile) {
    make = { name, _ in
      TableFile(name, name, directory) { (_, _) throws(StoreError) in nil }
    }
    self.buffers = buffers
    state.withLock { $0.files = files }
  }

  /// Returns the present files, which are never replaced; opens those that are not open.
  func frozen(_ directory: StoreDirectory) throws(StoreError) -> TableFiles {
    let files = try state.withLock { (state) throws(StoreError) in
      if state.isClosed { throw Self.closedError }
      return state.files
    }
    return TableFiles(
      directory, try files.map { (file) throws(StoreError) in try file.frozen() },
      buffers: try buffers.frozen())
  }

  /// Whether a table without a number counts as having no file, whatever others have published.
  var holdsFiles: Bool {
    get { state.withLock { $0.holdsFiles } }
    set { state.withLock { $0.holdsFiles = newValue } }
  }

  /// All files, with that of the named buffers last.
  var all: [TableFile] { state.withLock { $0.files } + [buffers] }

  /// Returns the number and the file of a table; assigns a number if the table is new.
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

  /// Returns the file of a table.
  func file(_ table: TableID) throws(StoreError) -> TableFile {
    try state.withLock { (state) throws(StoreError) in
      if state.isClosed { throw Self.closedError }
      precondition(state.files.indices.contains(table.index), "a table of another backend")
      return state.files[table.index]
    }
  }

  /// Returns the tables and named buffers that have files.
  func namesOfFiles() throws(StoreError) -> Set<String> {
    var names: Set<String> = []
    for file in all where try file.file() != nil { names.insert(file.name) }
    return names
  }

  func checkOpen() throws(StoreError) {
    if state.withLock({ $0.isClosed }) { throw Self.closedError }
  }

  private static var closedError: StoreError { StoreError(.closed, "The backend has been closed.") }

  /// Makes the next access to each file open it again; any of them may be missing.
  func reopen() throws(StoreError) {
    try checkOpen()
    state.withLock { ($0.needed, $0.holdsFiles) = ([], false) }
    for file in all { file.reopen() }
  }

  /// Records the files that the manifest lists.
  func need(_ names: [String]) {
    state.withLock { $0.needed.formUnion(names) }
    for file in all where names.contains(file.name) { file.need() }
  }

  /// Records that the manifest no longer lists some files.
  func forget(_ names: [String]) { state.withLock { $0.needed.subtract(names) } }

  /// The tables that the manifest lists, or that have had files.
  var needed: Set<String> {
    state.withLock { state in
      state.needed.union(state.files.filter(\.isNeeded).map(\.name))
    }
  }

  /// Closes all files permanently.
  func close() {
    state.withLock { $0.isClosed = true }
    for file in all { file.close() }
  }
}
