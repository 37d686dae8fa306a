import Files
import Locks
import TestFiles

/// The steps of making and opening a file, in which tests let the disk fail or the process die.
enum WritingStep: Int, CaseIterable, Sendable {
  case create, write
  /// Reading what was written before, to move it to where replaced records were.
  case compact
  case synchronize, rename, synchronizeDirectory
  /// Opening the file, which only a store does.
  case open

  /// The steps of a writer.
  static let ofWriter = allCases.filter { $0 != .open }

  /// Whether a call is of the step.
  func isTaken(by call: FileCall, _ path: String) -> Bool {
    switch self {
    case .create: call == .create
    case .write: call == .write
    case .compact: call == .read
    case .synchronize: call == .sync && path.hasSuffix(".tmp")
    case .rename: call == .rename
    case .synchronizeDirectory: call == .sync && !path.hasSuffix(".tmp")
    case .open: call == .map
    }
  }
}

/// A disk that can fail in a step.
final class FailingDisk: Sendable {
  let fileSystem: TestedFileSystem
  private let state: Flag

  init(_ step: WritingStep) {
    let state = Flag()
    self.state = state
    fileSystem = TestedFileSystem { step.isTaken(by: $0, $1) && state.isSet ? 5 : nil }
  }

  var isFailing: Bool {
    get { state.isSet }
    set { state.isSet = newValue }
  }
}
