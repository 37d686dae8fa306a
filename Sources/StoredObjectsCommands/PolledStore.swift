import Files
import Foundation
import StoredObjectsCore
import StoredObjectsEncryption

/// A store in a directory that other programs can save to, opened for reading repeatedly.
///
/// Between two reads it holds no lock, so other programs can open and save to the store.
final class PolledStore {
  private let store: StoreArgument
  private let key: EncryptionKey?
  private var known: [FileStamp?] = []
  private var readAt = ContinuousClock.now
  /// The time between two checks for changes.
  private static let pause = Duration.milliseconds(10)
  /// An upper bound of the resolution of a file's modification time.
  private static let clockStep = Duration.milliseconds(50)

  /// The state of a file, which changes with each commit.
  private struct FileStamp: Equatable {
    let identity: FileIdentity
    let size: Int
    let modified: Int64
  }

  init(_ store: StoreArgument) throws { (self.store, key) = (store, try store.key.key()) }

  /// Opens the store in its current state, passes it to a closure, and closes it.
  func read<Result>(_ body: (any DirectoryBackend) throws -> Result) throws -> Result {
    readAt = .now
    known = stamps()
    let backend = try store.openForReading(key)
    defer { try? backend.close() }
    return try body(backend)
  }

  /// Waits until the store may have changed since the last read, or until the command should end.
  ///
  /// - Returns: False if the command should end.
  func waitForNews(_ stop: StopSignal, atMost limit: Duration = .seconds(3600)) -> Bool {
    let start = ContinuousClock.now
    while !stop.isRequested {
      // Two commits in quick succession can have the same modification time.
      let isDoubtful = readAt.duration(to: .now) < Self.clockStep
      stop.sleep(Self.pause)
      if isDoubtful && readAt.duration(to: .now) >= Self.clockStep { return !stop.isRequested }
      if stamps() != known || start.duration(to: .now) > limit { return !stop.isRequested }
    }
    return false
  }

  private func stamps() -> [FileStamp?] {
    ["Commit.log", "Store.manifest"].map { name in
      guard let status = try? FileStatus.find(store.directory + "/" + name) else { return nil }
      return FileStamp(
        identity: status.identity, size: status.size, modified: status.modificationTime)
    }
  }
}
