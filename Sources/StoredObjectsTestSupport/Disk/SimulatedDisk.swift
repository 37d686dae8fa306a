import Files
import Locks
import StoredObjectsCore

/// A disk in memory that fails and loses power when a test says so.
///
/// Everything on it has two images: *live*, what programs see, and *durable*, what outlives a power
/// cut. Until a file is synced, each of its changed 512-byte sectors is old or new after a cut, by
/// chance; until the directory is synced, each new, changed or removed name is. A sync that fails
/// forgets what it was to bring to the disk, as Linux does: programs go on seeing it, and no later
/// sync makes it durable.
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
    /// Making a file.
    case create
    /// Giving a file another name.
    case rename
    /// Removing a name.
    case remove
    /// Bringing names to the disk.
    case synchronizeDirectory
  }

  /// The power is off.
  public struct PowerCut: Error {
    /// Describes that the power is off.
    public init() {}
  }

  struct State {
    var files: [SimulatedFile] = []
    var names: [String: Int] = [:]
    var durableNames: [String: Int] = [:]
    var unsyncedNames: [NameChange] = []
    var plan = Plan.none
    var operations: [Operation] = []
    var renameObserver: (@Sendable () -> Void)?
    var synchronizationObserver: (@Sendable () -> Void)?
  }

  enum NameChange {
    case link(String, Int)
    case rename(String, String)
    case remove(String)
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

  /// The names of the files that programs see.
  public var names: [String] { state.withLock { Array($0.names.keys) } }

  /// Has a closure called behind each rename, before anything else happens; nil ends that.
  ///
  /// A test sees there what others see between two renames.
  public func observeRenames(_ observer: (@Sendable () -> Void)?) {
    state.withLock { $0.renameObserver = observer }
  }

  /// Has a closure called before each sync of a file; nil ends that.
  ///
  /// A test holds a sync up there, and sees who waits for it.
  public func observeSynchronizations(_ observer: (@Sendable () -> Void)?) {
    state.withLock { $0.synchronizationObserver = observer }
  }

  // MARK: Names

  /// Opens a file; a missing one is made if it is to be.
  ///
  /// - Throws: ``PowerCut``, or what the system would say.
  public func open(_ name: String, createIfMissing: Bool) throws -> MemoryStorage? {
    if let known = state.withLock({ $0.names[name] }) { return MemoryStorage(self, known) }
    guard createIfMissing else { return nil }
    let number = try state.withLock { state in
      try state.perform(.create)
      state.files.append(SimulatedFile())
      state.link(name, state.files.count - 1)
      return state.files.count - 1
    }
    return MemoryStorage(self, number)
  }

  /// Gives a file another name, replacing the file that has it.
  ///
  /// - Throws: ``PowerCut``, or what the system would say.
  public func rename(_ old: String, to new: String) throws {
    try state.withLock { state in
      try state.perform(.rename)
      state.names[new] = state.names.removeValue(forKey: old)
      state.unsyncedNames.append(.rename(old, new))
    }
    state.withLock(\.renameObserver)?()
  }

  /// Removes a name.
  ///
  /// - Throws: ``PowerCut``, or what the system would say.
  public func remove(_ name: String) throws {
    try state.withLock { state in
      try state.perform(.remove)
      state.names[name] = nil
      state.unsyncedNames.append(.remove(name))
    }
  }

  /// Brings the names to the disk.
  ///
  /// - Throws: ``PowerCut``, or what the system would say.
  public func synchronizeDirectory() throws {
    try state.withLock { state in
      try state.perform(.synchronizeDirectory)
      state.durableNames = state.names
      state.unsyncedNames = []
    }
  }

  // MARK: The cut

  /// The disk as it may be after the power has come back.
  ///
  /// - Parameter generator: Decides which unsynced sectors, sizes and names are the new ones.
  /// - Returns: a disk on which everything is durable.
  public func afterPowerCut(using generator: inout some RandomNumberGenerator) -> SimulatedDisk {
    let old = state.withLock { ($0.files, $0.durableNames, $0.unsyncedNames) }
    var names = old.1
    // A directory keeps its changes in order, but may lose any of them.
    for change in old.2 where Bool.random(using: &generator) { change.apply(to: &names) }
    let files = old.0.map { $0.afterPowerCut(using: &generator) }
    let disk = SimulatedDisk()
    disk.state.withLock { state in
      state.files = files
      (state.names, state.durableNames) = (names, names)
    }
    return disk
  }
}

extension SimulatedDisk.NameChange {
  fileprivate func apply(to names: inout [String: Int]) {
    switch self {
    case .link(let name, let file): names[name] = file
    case .remove(let name): names[name] = nil
    case .rename(let old, let new):
      if let file = names.removeValue(forKey: old) { names[new] = file }
    }
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

  fileprivate mutating func link(_ name: String, _ file: Int) {
    names[name] = file
    unsyncedNames.append(.link(name, file))
  }
}
