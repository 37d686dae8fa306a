#if DEBUG
  import Files
  import Foundation
  import Locks

  /// A directory on a disk that fails and loses power when a test says so.
  ///
  /// It is a real one, so that everything works in it as it does for users: memory maps, locks, the
  /// C library. The seam of system calls tells what is synced when. What programs see is *live*;
  /// what outlives a power cut is *durable*. Until a file is synced, each of its changed 512-byte
  /// sectors is old or new after a cut, by chance; until the directory is synced, each new, changed
  /// or removed name is. A sync that fails forgets what it was to bring to the disk, as Linux does:
  /// no later sync makes that durable.
  ///
  ///     let disk = try CrashingDirectory()
  ///     disk.plan(.cutPower(at: 17))
  ///     // run until all calls fail
  ///     let rebooted = try disk.afterPowerCut(using: &generator)
  ///
  /// Every call that opens, reads, maps or changes something counts as one operation, from 0. Writes
  /// through a memory map do not count: they reach the disk, or not, with the file's next sync. Safe
  /// on any threads.
  package final class CrashingDirectory: Sendable {
    /// What goes wrong, and when.
    package enum Plan: Sendable {
      /// All works.
      case none
      /// The operation with this number, and every call after it, fails.
      case cutPower(at: Int)
      /// The operation with this number fails.
      case fail(at: Int, errno: Int32)
    }

    /// The calls that change something, or bring it to the disk.
    private static let changes: Set = [
      "pwrite", "ftruncate", "sendfile", "fsync", "fdatasync", "renameat", "unlinkat",
    ]
    /// The calls that count.
    private static let operations = changes.union(["openat", "pread", "mmap"])
    private static let sectorSize = 512

    /// The path, without symbolic links.
    package let path: String
    /// What is removed together with this object, if anything.
    private let ownDirectory: String?
    private let state: Locked<State>

    fileprivate struct State {
      var plan = Plan.none
      var operations: [String] = []
      /// By the numbers of their inodes, which are not given out again while they are open.
      var files: [UInt64: File] = [:]
      var names: [String: UInt64] = [:]
      var durableNames: [String: UInt64] = [:]
      /// The changes of names since the last sync, each at one instant.
      var changes: [[String: UInt64?]] = []
      var renameObserver: (@Sendable (_ newName: String) -> Void)?
      var syncObserver: (@Sendable () -> Void)?
    }

    fileprivate struct File: Sendable {
      let handle: FileHandle
      var durable: [UInt8] = []
      /// What a failed sync has forgotten.
      var forgotten: [UInt8]?

      func live() throws -> [UInt8] {
        try handle.seek(toOffset: 0)
        return Array(try handle.readToEnd() ?? Data())
      }
    }

    /// Watches a directory that exists; what is in it is durable.
    package convenience init(_ path: String) throws { try self.init(path, ownDirectory: nil) }

    /// Makes an empty directory in memory, which is removed together with this object.
    package convenience init() throws {
      let (parent, path) = try Self.makeDirectory()
      try self.init(path, ownDirectory: parent)
    }

    private static func makeDirectory() throws -> (parent: String, path: String) {
      let parent = try makeTemporaryDirectory(in: .memory)
      try FileManager.default.createDirectory(
        atPath: parent + "/store", withIntermediateDirectories: false)
      return (parent, parent + "/store")
    }

    private init(_ path: String, ownDirectory: String?) throws {
      let path = try realPath(path)
      (self.path, self.ownDirectory) = (path, ownDirectory)
      var state = State()
      try state.noteNames(in: path)
      for (inode, file) in state.files { state.files[inode]?.durable = try file.live() }
      (state.durableNames, state.changes) = (state.names, [])
      self.state = Locked(state)
      PlannedFailures.begin(below: path) { [weak self] call, file in
        self?.failure(call, file)
      } witness: { [weak self] call, file in
        self?.note(call, file)
      }
    }

    deinit {
      PlannedFailures.end(below: path)
      if let ownDirectory { try? FileManager.default.removeItem(atPath: ownDirectory) }
    }

    /// Says what is to go wrong; counting starts again at 0.
    package func plan(_ plan: Plan) {
      state.withLock { state in
        state.plan = plan
        state.operations = []
      }
    }

    /// The operations since the last ``plan(_:)``, by the names of the system's calls.
    package var operations: [String] { state.withLock { $0.operations } }

    /// The numbers of those operations that change something, or bring it to the disk.
    package var changes: [Int] {
      operations.enumerated().filter { Self.changes.contains($0.element) }.map(\.offset)
    }

    /// How often files, not directories, were synced since the last ``plan(_:)``.
    package var syncCount: Int { operations.count { $0 == "fdatasync" } }

    /// The names of the files that programs see.
    package var names: [String] { state.withLock { Array($0.names.keys) } }

    /// Has a closure called behind each rename, before anything else happens; nil ends that.
    ///
    /// A test sees there what others see between two renames.
    package func observeRenames(_ observer: (@Sendable (_ newName: String) -> Void)?) {
      state.withLock { $0.renameObserver = observer }
    }

    /// Has a closure called before each sync of a file; nil ends that.
    ///
    /// A test holds a sync up there, and sees who waits for it.
    package func observeSyncs(_ observer: (@Sendable () -> Void)?) {
      state.withLock { $0.syncObserver = observer }
    }

    // MARK: Calls

    private func failure(_ call: String, _ file: String) -> Int32? {
      if call == "fdatasync" { state.withLock { $0.syncObserver }?() }
      return state.withLock { state -> Int32? in
        // As on a disk that takes larger blocks only.
        if call == "openat, O_DIRECT" { return EINVAL }
        let number = state.operations.count
        let counts = Self.operations.contains(call)
        if counts { state.operations.append(call) }
        switch state.plan {
        case .none: return nil
        case .cutPower(let at): return number > at || counts && number == at ? EIO : nil
        case .fail(let at, let errno):
          guard counts, number == at else { return nil }
          if call == "fsync" || call == "fdatasync" { try? state.forget(name(of: file)) }
          return errno
        }
      }
    }

    private func note(_ call: String, _ file: String) {
      try? state.withLock { state in
        switch call {
        case "create", "renameat", "unlinkat": try state.noteNames(in: path)
        case "pwrite": state.noteWrite(name(of: file))
        case "fsync", "fdatasync":
          if file == path {
            (state.durableNames, state.changes) = (state.names, [])
          } else {
            try state.synchronize(name(of: file))
          }
        default: break
        }
      }
      if call == "renameat" { state.withLock { $0.renameObserver }?(name(of: file)) }
    }

    private func name(of file: String) -> String {
      file.split(separator: "/").last.map(String.init) ?? file
    }

    // MARK: The cut

    /// A directory as this one may be after the power has come back; what is in it is durable.
    ///
    /// The generator decides which unsynced sectors, sizes and names are the new ones.
    package func afterPowerCut(
      using generator: inout some RandomNumberGenerator
    ) throws -> CrashingDirectory {
      let (parent, path) = try Self.makeDirectory()
      try copyAfterPowerCut(to: path, using: &generator)
      return try CrashingDirectory(path, ownDirectory: parent)
    }

    private func copyAfterPowerCut(
      to target: String, using generator: inout some RandomNumberGenerator
    ) throws {
      let state = state.withLock { $0 }
      var names = state.durableNames
      // A directory keeps its changes in order, but may lose any of them.
      for change in state.changes where Bool.random(using: &generator) {
        for (name, inode) in change { names[name] = inode }
      }
      for (name, inode) in names.sorted(by: { $0.key < $1.key }) {
        guard let file = state.files[inode] else { continue }
        let bytes = Self.torn(file.durable, try file.live(), &generator)
        try Data(bytes).write(to: URL(fileURLWithPath: target + "/" + name))
      }
    }

    private static func torn(
      _ durable: [UInt8], _ live: [UInt8], _ generator: inout some RandomNumberGenerator
    ) -> [UInt8] {
      if durable == live { return live }
      var image = durable
      if Bool.random(using: &generator) {
        image = Array(durable.prefix(live.count))
        image += [UInt8](repeating: 0, count: live.count - image.count)
      }
      // Now and then all or nothing, else each sector for itself.
      let fate = Int.random(in: 0..<6, using: &generator)
      for range in changedSectors(from: durable, to: live) {
        let isNew = Bool.random(using: &generator)
        let part = range.clamped(to: 0..<image.count)
        if fate == 0 || fate > 1 && isNew { image.replaceSubrange(part, with: live[part]) }
      }
      return image
    }

    fileprivate static func changedSectors(
      from old: [UInt8], to new: [UInt8]
    ) -> [Range<Int>] {
      stride(from: 0, to: new.count, by: sectorSize).compactMap { start in
        let range = start..<min(start + sectorSize, new.count)
        if range.upperBound <= old.count, old[range] == new[range] { return nil }
        return range
      }
    }
  }

  extension CrashingDirectory.State {
    /// Looks which names there are now, and notes the change as one.
    fileprivate mutating func noteNames(in path: String) throws {
      var found: [String: UInt64] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: path) {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
        guard attributes[.type] as? FileAttributeType == .typeRegular,
          let number = attributes[.systemFileNumber],
          let inode = number as? UInt64 ?? (number as? NSNumber)?.uint64Value
        else { continue }
        found[name] = inode
        if files[inode] == nil, let handle = FileHandle(forReadingAtPath: path + "/" + name) {
          files[inode] = .init(handle: handle)
        }
      }
      var change: [String: UInt64?] = [:]
      for name in Set(names.keys).union(found.keys) where names[name] != found[name] {
        change.updateValue(found[name], forKey: name)
      }
      if !change.isEmpty { changes.append(change) }
      names = found
    }

    fileprivate mutating func synchronize(_ name: String) throws {
      guard let inode = names[name], var file = files[inode] else { return }
      var live = try file.live()
      if let forgotten = file.forgotten {
        // What has not been written again since the sync that failed never comes to the disk.
        for range in CrashingDirectory.changedSectors(from: file.durable, to: live)
        where range.upperBound <= min(forgotten.count, file.durable.count)
          && forgotten[range] == live[range]
        {
          live.replaceSubrange(range, with: file.durable[range])
        }
      }
      file.durable = live
      files[inode] = file
    }

    /// What is written again comes to the disk again; which part that is, is not known here.
    fileprivate mutating func noteWrite(_ name: String) {
      if let inode = names[name] { files[inode]?.forgotten = nil }
    }

    fileprivate mutating func forget(_ name: String) throws {
      guard let inode = names[name], let file = files[inode] else { return }
      files[inode]?.forgotten = try file.live()
    }
  }
#endif
