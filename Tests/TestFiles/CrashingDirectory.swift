package import Files
import Foundation
import Locks

/// A directory on a disk that fails and loses power when a test requests it.
///
/// It is a real directory, in which everything works as it does for users: memory maps, locks, the
/// C library. As a ``FileSystem`` it records when each file is synced. The state that programs see
/// is *live*; the state that survives a power failure is *durable*. Until a file is synced, each of
/// its changed 512-byte sectors is randomly old or new after a power failure. Until the directory
/// is synced, so is each new, changed or removed name. Directories in it behave in the same way. A
/// failed sync forgets the changes that it should have made durable, as Linux does: only data that
/// is written again becomes durable by a later sync.
///
///     let disk = try CrashingDirectory()
///     disk.plan(.cutPower(at: 17))
///     // run until all calls fail
///     let rebooted = try disk.afterPowerCut(using: &generator)
///
/// Every call that opens, reads, maps or changes something counts as one operation, from 0. Writes
/// through a memory map do not count: they may reach the disk with the file's next sync. Safe on
/// any thread.
package final class CrashingDirectory: FileSystem {
  /// The planned failure, and its time.
  package enum Plan: Sendable {
    /// No failure.
    case none
    /// The operation with this number, and every call after it, fails.
    case cutPower(at: Int)
    /// The operation with this number fails. A write has written its first half by then.
    case fail(at: Int, errno: Int32)
  }

  /// The calls that change something, or make it durable.
  private static let changes: Set<FileCall> = [
    .create, .write, .truncate, .copyRange, .copy, .sync, .syncData, .rename, .exchange, .remove,
    .makeDirectory, .removeDirectory,
  ]
  /// The calls that count.
  package static let counted = changes.union([.open, .read, .map])

  /// The path, without symbolic links.
  package let path: String
  /// The directory that is removed together with this object.
  private let parent: String
  private let state: Locked<State>

  fileprivate struct State {
    var plan = Plan.none
    var operations: [FileCall] = []
    /// The files by inode numbers, which are not reused while the files are open.
    var files: [UInt64: CrashingFile] = [:]
    var directories: [UInt64: CrashingNames] = [:]
    /// The inode of the directory itself.
    var root: UInt64 = 0
    var renameObserver: (@Sendable (_ newName: String) -> Void)?
    var syncObserver: (@Sendable () -> Void)?
    /// The reason why the simulation does not know the state.
    var failure: (any Error)?
  }

  /// Creates an empty directory in memory, which is removed together with this object.
  package convenience init() throws { try self.init(files: [:]) }

  /// Creates a directory of durable files in memory, which is removed together with this object.
  ///
  /// A name may contain directories; a name with a slash at its end is a directory.
  package init(files: [String: [UInt8]]) throws {
    parent = try makeTemporaryDirectory(in: .memory)
    try FileManager.default.createDirectory(
      atPath: parent + "/store", withIntermediateDirectories: false)
    path = try realPath(parent + "/store")
    for (name, content) in files {
      let file = URL(fileURLWithPath: path + "/" + name)
      let directory = name.hasSuffix("/") ? file : file.deletingLastPathComponent()
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      if directory != file { try Data(content).write(to: file) }
    }
    var state = State()
    state.root = try state.noteNames(in: path)
    for (name, content) in files {
      if let inode = state.inode(name) { state.files[inode]?.durable = content }
    }
    for inode in Array(state.directories.keys) { state.directories[inode]?.synchronize() }
    self.state = Locked(state)
  }

  deinit { try? FileManager.default.removeItem(atPath: parent) }

  /// Plans a failure; counting starts again at 0.
  package func plan(_ plan: Plan) {
    state.withLock { state in
      state.plan = plan
      state.operations = []
    }
  }

  /// The operations since the last ``plan(_:)``.
  package var operations: [FileCall] { state.withLock { $0.operations } }

  /// The numbers of those operations that change something, or make it durable.
  package var changes: [Int] {
    operations.enumerated().filter { Self.changes.contains($0.element) }.map(\.offset)
  }

  /// The number of syncs of file contents since the last ``plan(_:)``.
  package var syncCount: Int { operations.count { $0 == .syncData } }

  /// The names of the files that programs see.
  package var names: [String] {
    state.withLock { state in state.directories[state.root].map { Array($0.live.keys) } ?? [] }
  }

  /// Returns the location of a file in the directory.
  package func file(_ name: String) -> FileLocation { FileLocation(path + "/" + name, in: self) }

  /// Sets a closure that is called after each rename, before anything else happens; nil removes it.
  ///
  /// In the closure, a test sees the state that others see between two renames.
  package func observeRenames(_ observer: (@Sendable (_ newName: String) -> Void)?) {
    state.withLock { $0.renameObserver = observer }
  }

  /// Sets a closure that is called before each sync of a file's content; nil removes it.
  ///
  /// In the closure, a test can delay the sync, and see which callers wait for it.
  package func observeSyncs(_ observer: (@Sendable () -> Void)?) {
    state.withLock { $0.syncObserver = observer }
  }

  // MARK: Calls

  package func perform(
    _ call: FileCall, _ range: Range<Int>?, on path: @autoclosure () -> String, _ body: () -> Int
  ) throws(SystemError) -> Int {
    let file = path()
    guard file == self.path || file.hasPrefix(self.path + "/") else {
      return try SystemFiles.shared.perform(call, range, on: file, body)
    }
    if call == .syncData { state.withLock { $0.syncObserver }?() }
    if let number = failure(call, file) {
      if call == .write, let range, isPlanned(.write) { try? writeHalf(range, file, body) }
      throw SystemError(call: call.rawValue, path: file, number: number)
    }
    let result = try SystemFiles.shared.perform(call, range, on: file, body)
    note(call, range, file)
    return result
  }

  private func failure(_ call: FileCall, _ file: String) -> Int32? {
    state.withLock { state -> Int32? in
      // Simulates a disk that supports larger blocks only.
      if call == .openDirect { return EINVAL }
      let number = state.operations.count
      let counts = Self.counted.contains(call) && (call != .makeDirectory || file != path)
      if counts { state.operations.append(call) }
      switch state.plan {
      case .none: return nil
      case .cutPower(let at): return number > at || counts && number == at ? EIO : nil
      case .fail(let at, let errno):
        guard counts, number == at else { return nil }
        if call == .sync || call == .syncData { try? state.forget(name(in: file)) }
        return errno
      }
    }
  }

  /// Whether the last operation is the planned one, and no later one.
  private func isPlanned(_ call: FileCall) -> Bool {
    state.withLock { state in
      switch state.plan {
      case .none: false
      case .cutPower(let at), .fail(let at, _):
        state.operations.count == at + 1 && state.operations.last == call
      }
    }
  }

  /// Performs a write, and undoes its second half.
  private func writeHalf(_ range: Range<Int>, _ file: String, _ body: () -> Int) throws {
    guard let handle = FileHandle(forUpdatingAtPath: file) else { return }
    let size = try handle.seekToEnd()
    let middle = UInt64(range.lowerBound + range.count / 2)
    try handle.seek(toOffset: min(middle, size))
    let old = try handle.read(upToCount: range.upperBound - Int(min(middle, size))) ?? Data()
    _ = body()
    if middle < size {
      try handle.seek(toOffset: middle)
      try handle.write(contentsOf: old)
    }
    try handle.truncate(atOffset: max(middle, size))
    note(.write, range.lowerBound..<Int(middle), file)
  }

  private func note(_ call: FileCall, _ range: Range<Int>?, _ file: String) {
    state.withLock { state in
      do {
        switch call {
        case .create, .rename, .exchange, .remove, .makeDirectory, .removeDirectory:
          _ = try state.noteNames(in: path)
        case .write: state.noteWrite(name(in: file), range)
        case .sync, .syncData: try state.synchronize(name(in: file))
        default: break
        }
      } catch {
        state.failure = error
      }
    }
    if call == .rename { state.withLock { $0.renameObserver }?(name(of: file)) }
  }

  private func name(of file: String) -> String {
    file.split(separator: "/").last.map(String.init) ?? file
  }

  /// Returns the path of a file relative to the directory.
  private func name(in file: String) -> Substring { file.dropFirst(path.count) }

  // MARK: The cut

  /// Returns a directory in a state that is possible after a power failure; its content is durable.
  ///
  /// The generator determines which unsynced sectors, sizes and names are the new ones.
  package func afterPowerCut(
    using generator: inout some RandomNumberGenerator
  ) throws -> CrashingDirectory {
    let state = state.withLock { $0 }
    if let failure = state.failure { throw failure }
    var files: [String: [UInt8]] = [:]
    try state.collect(state.root, "", &files, &generator)
    return try CrashingDirectory(files: files)
  }
}

extension CrashingDirectory.State {
  /// Returns the inode of a relative path.
  fileprivate func inode(_ name: some StringProtocol) -> UInt64? {
    var inode: UInt64? = root
    for part in name.split(separator: "/") {
      inode = inode.flatMap { directories[$0]?.live[String(part)] }
    }
    return inode
  }

  /// Reads the current names, records the changes of each directory as one, and returns the inode.
  fileprivate mutating func noteNames(in path: String) throws -> UInt64 {
    let handle = try DirectoryHandle(path)
    let inode = handle.identity.inode
    if directories[inode] == nil { directories[inode] = CrashingNames(handle) }
    var found: [String: UInt64] = [:]
    for name in try directoryEntries(path) {
      let file = path + "/" + name
      guard let status = try FileStatus.find(file) else { continue }
      if status.isDirectory { found[name] = try noteNames(in: file) }
      guard status.isRegular else { continue }
      found[name] = status.identity.inode
      if files[status.identity.inode] == nil {
        files[status.identity.inode] = CrashingFile(
          try FileHandle(forReadingFrom: URL(fileURLWithPath: file)))
      }
    }
    directories[inode]?.note(found)
    return inode
  }

  fileprivate mutating func noteWrite(_ name: Substring, _ range: Range<Int>?) {
    if let inode = inode(name), let range { files[inode]?.noteWrite(range) }
  }

  fileprivate mutating func synchronize(_ name: Substring) throws {
    guard let inode = inode(name) else { return }
    directories[inode]?.synchronize()
    try files[inode]?.synchronize()
  }

  fileprivate mutating func forget(_ name: Substring) throws {
    if let inode = inode(name) { try files[inode]?.forgetUnsynced() }
  }

  /// Adds the files of a directory and of its subdirectories in a state possible after a power
  /// failure.
  fileprivate func collect(
    _ inode: UInt64, _ prefix: String, _ found: inout [String: [UInt8]],
    _ generator: inout some RandomNumberGenerator
  ) throws {
    let names = directories[inode]?.afterPowerCut(using: &generator) ?? [:]
    for (name, inode) in names.sorted(by: { $0.key < $1.key }) {
      if directories[inode] == nil {
        found[prefix + name] = try files[inode]?.afterPowerCut(using: &generator)
      } else {
        found[prefix + name + "/"] = []
        try collect(inode, prefix + name + "/", &found, &generator)
      }
    }
  }
}
