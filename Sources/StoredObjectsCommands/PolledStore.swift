import Foundation
import StoreEngine
import StoredObjectsCore
import StoredObjectsEncryption

/// A store in a directory that other programs can save to, opened for reading repeatedly.
///
/// Between two reads it holds no lock, so other programs can open and save to the store.
final class PolledStore {
  private let store: StoreArgument
  private let key: EncryptionKey?
  private var known: StoreStamp?
  private var readAt = ContinuousClock.now
  /// The time between two checks for changes.
  private static let pause = Duration.milliseconds(10)

  init(_ store: StoreArgument) throws { (self.store, key) = (store, try store.key.key()) }

  /// Opens the store in its current state, passes it to a closure, and closes it.
  func read<Result>(_ body: (any DirectoryBackend) throws -> Result) throws -> Result {
    readAt = .now
    known = stamp()
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
      let wasDoubtful = isDoubtful
      stop.sleep(Self.pause)
      if wasDoubtful && !isDoubtful { return !stop.isRequested }
      if stamp() != known || start.duration(to: .now) > limit { return !stop.isRequested }
    }
    return false
  }

  /// Whether a commit since the last read may not show in the stamp.
  private var isDoubtful: Bool { readAt.duration(to: .now) < StoreStamp.clockStep }

  private func stamp() -> StoreStamp { StoreStamp(directory: store.directory) }
}
