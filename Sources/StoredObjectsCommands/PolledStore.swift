import Files
import Foundation
import StoredObjectsCore
import StoredObjectsEncryption

/// A store in a directory that other programs may save to, opened for reading again and again.
///
/// It keeps nobody out, and needs nobody's consent.
final class PolledStore {
  private let store: StoreArgument
  private let key: EncryptionKey?
  private var known: [FileStamp?] = []
  private var readAt = ContinuousClock.now
  /// How often it is looked whether there is something new.
  private static let pause = Duration.milliseconds(10)
  /// The clock of a file system is no finer than that.
  private static let clockStep = Duration.milliseconds(50)

  /// A file's state, which changes with each commit.
  private struct FileStamp: Equatable {
    let identity: FileIdentity
    let size: Int
    let modified: Int64
  }

  init(_ store: StoreArgument) throws { (self.store, key) = (store, try store.key.key()) }

  /// Opens the store as it is now.
  func read<Result>(_ body: (any DirectoryBackend) throws -> Result) throws -> Result {
    readAt = .now
    known = stamps()
    let backend = try store.openForReading(key)
    defer { try? backend.close() }
    return try body(backend)
  }

  /// Waits until the store may have changed since it was read, or the command is to end.
  ///
  /// - Returns: False when the command is to end.
  func waitForNews(_ stop: StopSignal, atMost limit: Duration = .seconds(3600)) -> Bool {
    let start = ContinuousClock.now
    while !stop.isRequested {
      // A commit right behind the last one may have left the same time.
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
