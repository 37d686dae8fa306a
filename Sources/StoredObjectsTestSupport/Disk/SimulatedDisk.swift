import Files
import Locks
import StoredObjectsCore

/// A disk in memory that fails and loses power when a test says so.
///
/// Everything on it has two images: *live*, what programs see, and *durable*, what outlives a power
/// cut. Until a file is synced, each of its changed 512-byte sectors is old or new after a cut, by
/// chance. A sync that fails forgets what it was to bring to the disk, as Linux does: programs go on
/// seeing it, and no later sync makes it durable.
///
///     let disk = SimulatedDisk()
///     disk.plan(.cutPower(at: 17))
///     // run until SimulatedDisk.PowerCut is thrown
///     let rebooted = disk.afterPowerCut(using: &generator)
///
/// Every call counts as one operation, from 0, so that a test can run once for each of them. Safe
/// on any threads.
public final class SimulatedDisk: Sendable {
  /// What goes wrong, and when.
  public enum Plan: Sendable {
    /// All works.
    case none
    /// The operation with this number, and all after it, throw ``PowerCut``.
    case cutPower(at: Int)
    /// The operation with this number fails as a system call does; a write has written its first
    /// half then.
    case fail(at: Int, errno: Int32)
  }

  /// The kinds of operation, each of which can fail.
  public enum Operation: String, Sendable, CaseIterable {
    /// Reading from a file.
    case read
    /// Writing to a file.
    case write
    /// Changing the size of a file.
    case resize
    /// Bringing a file to the disk.
    case synchronize
  }

  /// The power is off.
  public struct PowerCut: Error {
    /// Describes that the power is off.
    public init() {}
  }

  struct State {
    var files: [SimulatedFile] = []
    var plan = Plan.none
    var operations: [Operation] = []
  }

  let state = Locked(State())

  /// Makes an empty disk.
  public init() {}

  /// Says what is to go wrong; counting starts again at 0.
  public func plan(_ plan: Plan) {
    state.withLock { state in
      state.plan = plan
      state.operations = []
    }
  }

  /// The operations since the last ``plan(_:)``.
  public var operations: [Operation] { state.withLock(\.operations) }

  // MARK: The cut

  /// The disk as it may be after the power has come back.
  ///
  /// - Parameter generator: Decides which unsynced sectors and sizes are the new ones.
  /// - Returns: a disk on which everything is durable.
  public func afterPowerCut(using generator: inout some RandomNumberGenerator) -> SimulatedDisk {
    let files = state.withLock { $0.files.map { $0.afterPowerCut(using: &generator) } }
    let disk = SimulatedDisk()
    disk.state.withLock { $0.files = files }
    return disk
  }
}

extension SimulatedDisk.State {
  /// Counts an operation, and throws when it is to fail.
  mutating func perform(_ operation: SimulatedDisk.Operation) throws {
    let number = operations.count
    operations.append(operation)
    switch plan {
    case .none: break
    case .cutPower(let at):
      if number >= at { throw SimulatedDisk.PowerCut() }
    case .fail(let at, let errno):
      if number == at {
        throw SystemError(call: operation.rawValue, path: "simulated disk", number: errno)
      }
    }
  }
}
