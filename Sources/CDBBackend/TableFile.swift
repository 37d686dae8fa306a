import CDB
import Files
import Locks
import StoreEngine

/// The file of one table, mapped when it is first needed.
///
/// Whoever reads holds the map that was current when he began, so that replacing the file disturbs
/// nobody.
final class TableFile: Sendable {
  let name: String
  private let directory: StoreDirectory
  private let state: Locked<State>

  private struct State: Sendable {
    /// The name under which the file was found: a temporary one if a writer died before renaming
    /// it.
    var fileName: String
    /// Whether the manifest lists the file, or it has been there.
    var isNeeded: Bool
    var content = Content.unknown
    var generation: UInt64 = 0
  }

  private enum Content: Sendable {
    case unknown
    /// There is no file; nobody else can make one while the directory is locked.
    case missing
    case mapped(CDBReader)
    case closed
  }

  init(name: String, directory: StoreDirectory, isNeeded: Bool = false) {
    (self.name, self.directory) = (name, directory)
    state = Locked(State(fileName: Names.file(of: name), isNeeded: isNeeded))
  }

  /// The name in the directory.
  var fileName: String { state.withLock { $0.fileName } }
  /// Where the file is, for people.
  var path: String { directory.path(fileName) }

  /// Whether the manifest lists the file, or it has been there.
  var isNeeded: Bool { state.withLock { $0.isNeeded } }

  /// Takes note that the manifest lists the file.
  func need() { state.withLock { $0.isNeeded = true } }

  /// How often the file has been replaced.
  var generation: UInt64 { state.withLock { $0.generation } }

  /// The file as it is now, and how often it has been replaced; no reader when there is none.
  func current() throws -> (reader: CDBReader?, generation: UInt64) {
    try state.withLock { state in
      switch state.content {
      case .mapped(let reader): return (reader, state.generation)
      case .missing: return (nil, state.generation)
      case .closed: throw StoreError(.closed, "The backend has been closed.")
      case .unknown: break
      }
      let reader = try Self.open(directory.file(state.fileName), name)
      if reader == nil, state.isNeeded { throw StoreError.fileGone(name, in: directory.path) }
      if state.generation == 0, let reader { try inspect(reader) }
      state.content = reader.map { .mapped($0) } ?? .missing
      return (reader, state.generation)
    }
  }

  func reader() throws -> CDBReader? { try current().reader }

  /// Up to this size files are looked at when they are opened, which takes some milliseconds.
  ///
  /// Reading believes nothing in a file, but would miss a record that a spoilt slot does not lead
  /// to. What this backend itself has made needs no look.
  private static let inspectedSize = 4 << 20

  private func inspect(_ reader: CDBReader) throws {
    guard reader.byteCount <= Self.inspectedSize else { return }
    try cdbErrors(className: name) { try reader.verify() }
  }

  /// Maps a file, classic or wide.
  static func open(_ place: FilePlace, _ name: String) throws -> CDBReader? {
    try cdbErrors(className: name) {
      do {
        return try CDBReader(place)
      } catch let error as CDBError where error.code == .otherFormat {
        return try CDBReader(place, format: .wide)
      } catch let error as CDBError where error.code == .noFile {
        return nil
      }
    }
  }

  /// Puts a new file in the place of this one.
  func replace(by new: String) throws {
    try state.withLock { state in
      try systemErrors(at: directory.path(state.fileName)) {
        try renameFile(directory.file(new), directory.file(state.fileName))
      }
      if case .closed = state.content { return }
      state.content = .unknown
      state.isNeeded = true
      state.generation += 1
    }
  }

  /// Reads another file from now on.
  func redirect(to fileName: String) {
    state.withLock { state in
      state.fileName = fileName
      state.isNeeded = true
      state.content = .unknown
      state.generation += 1
    }
  }

  /// Gives the map back, as soon as nobody reads it any more.
  func close() { state.withLock { $0.content = .closed } }
}

/// Runs calls of the constant database, and makes their errors those of a store.
func cdbErrors<Result>(className: String?, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as CDBError {
    let code: StoreError.Code =
      switch error.code {
      case .damaged, .otherFormat: .damaged
      case .noSpace, .tooLarge: .full
      case .closed: .closed
      default: .ioError
      }
    throw StoreError(
      code, error.message,
      at: .init(path: error.path, className: className, offset: error.offset), underlying: error)
  }
}
