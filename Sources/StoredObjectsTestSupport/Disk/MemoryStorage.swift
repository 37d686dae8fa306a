import Files
import Locks
public import StoredObjectsCore

/// A file on a ``SimulatedDisk``: what the commit log writes to in tests.
public final class MemoryStorage: Storage {
  /// The disk that the file is on.
  public let disk: SimulatedDisk
  private let number: Int

  init(_ disk: SimulatedDisk, _ number: Int) {
    self.disk = disk
    self.number = number
  }

  /// Makes a disk with one file on it, whose content is durable.
  public convenience init(_ content: [UInt8] = []) {
    let disk = SimulatedDisk()
    disk.state.withLock { $0.files = [SimulatedFile(content)] }
    self.init(disk, 0)
  }

  /// The content that programs see.
  public var content: [UInt8] { disk.state.withLock { $0.files[number].live } }

  /// This file after the power has come back, on a disk of its own.
  public func afterPowerCut(using generator: inout some RandomNumberGenerator) -> MemoryStorage {
    MemoryStorage(disk.afterPowerCut(using: &generator), number)
  }

  /// The size that programs see.
  public func size() -> Int { disk.state.withLock { $0.files[number].live.count } }

  /// Reads what programs see.
  ///
  /// - Throws: ``SimulatedDisk/PowerCut``, or what the system would say.
  public func read(_ count: Int, at offset: Int) throws -> [UInt8] {
    try disk.state.withLock { state in
      try state.perform(.read)
      let live = state.files[number].live
      guard offset < live.count else { return [] }
      return Array(live[offset..<min(offset + count, live.count)])
    }
  }

  /// Writes without syncing; a write that is planned to fail writes its first half.
  ///
  /// - Throws: ``SimulatedDisk/PowerCut``, or what the system would say.
  public func write(_ bytes: [UInt8], at offset: Int) throws {
    try disk.state.withLock { state in
      do {
        try state.perform(.write)
      } catch {
        // Also when the power fails: some of it may be on its way.
        if !(state.isOff) { state.files[number].write(bytes.prefix(bytes.count / 2), at: offset) }
        throw error
      }
      state.files[number].write(bytes, at: offset)
    }
  }

  /// Changes the size without syncing.
  ///
  /// - Throws: ``SimulatedDisk/PowerCut``, or what the system would say.
  public func resize(to size: Int) throws {
    try disk.state.withLock { state in
      try state.perform(.resize)
      state.files[number].resize(to: size)
    }
  }

  /// Makes what was written durable.
  ///
  /// - Throws: ``SimulatedDisk/PowerCut``, or what the system would say.
  public func synchronize() throws {
    try disk.state.withLock { state in
      do {
        try state.perform(.synchronize)
      } catch {
        if error is SystemError { state.files[number].forgetUnsynced() }
        throw error
      }
      state.files[number].synchronize()
    }
  }

  /// Does nothing: the content stays.
  public func close() {}
}

extension SimulatedDisk.State {
  /// Whether the power has been off for longer than this operation.
  fileprivate var isOff: Bool {
    guard case .cutPower(let at) = plan else { return false }
    return operations.count > at + 1
  }
}
