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

    /// There are at most 255, so that a table is soon found.
    func number(_ name: String) -> Int? { files.firstIndex { $0.name == name } }
  }

  init<Format: ClassFileFormat>(_ directory: StoreDirectory, _ format: Format) {
    make = { name, isNeeded in
      TableFile(name, Format.fileName(ofTable: name), directory, isNeeded: isNeeded) {
        try format.open($0, isOurs: $1)
      }
    }
    buffers = make(StoreDirectory.buffers, false)
  }

  /// All files, that of the named buffers last.
  var all: [TableFile] { state.withLock { $0.files } + [buffers] }

  /// The number of a table, new or known, and its file.
  func number(of name: String) throws -> (Int, TableFile) {
    try state.withLock { state in
      if state.isClosed { throw Self.closedError }
      if let known = state.number(name) { return (known, state.files[known]) }
      state.files.append(make(name, state.needed.contains(name)))
      return (state.files.count - 1, state.files[state.files.count - 1])
    }
  }

  /// The file of a table that has a number.
  func file(_ table: TableID) throws -> TableFile {
    try state.withLock { state in
      if state.isClosed { throw Self.closedError }
      precondition(state.files.indices.contains(table.index), "a table of another backend")
      return state.files[table.index]
    }
  }

  func checkOpen() throws {
    if state.withLock({ $0.isClosed }) { throw Self.closedError }
  }

  private static var closedError: StoreError { StoreError(.closed, "The backend has been closed.") }

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
