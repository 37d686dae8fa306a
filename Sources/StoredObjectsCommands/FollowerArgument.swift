import ArgumentParser
import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsEncryption

/// The argument and options for a copy that follows a store.
struct FollowerArgument: ParsableArguments {
  @Argument(
    help: "The directory of the copy, which is created if it does not exist.",
    completion: .directory)
  var target: String
  @Option(help: "The backend of a new copy: tokyo-cabinet or cdb.")
  var backend = StoreFormat.tokyoCabinet

  /// Whether the directory exists and is not empty.
  var exists: Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: target)) ?? []
    return names.contains { !$0.hasPrefix(".") }
  }

  /// The format of the existing copy, or of a new one.
  private var format: StoreFormat {
    guard exists, let names = try? FileManager.default.contentsOfDirectory(atPath: target) else {
      return backend
    }
    return StoreFormat(ofDirectoryWith: names)
  }

  /// Opens the copy, which other processes can share and read.
  func open(_ key: EncryptionKey?) throws -> any DirectoryBackend {
    // A first copy is not shared, so that only one process makes it.
    try format.open(
      target, sharing: exists ? .processes : .exclusive, lockTimeout: StoreArgument.lockTimeout,
      key: key)
  }

  /// Returns the number of the last commit in the copy; 0 if there is no copy yet.
  func commitNumber(_ key: EncryptionKey?) throws -> UInt64 {
    guard exists else { return 0 }
    let copy = try format.open(target, access: .readOnly, key: key)
    defer { try? copy.close() }
    guard let position = try copy.followedPosition() else {
      throw Failure(
        description: "\"\(target)\" follows no other store. Name the directory of a copy.")
    }
    return position.number
  }
}

/// The report of `follow`, `apply` and `promote`.
struct FollowerReport: Encodable {
  var target: String
  /// The number of the last commit in the copy.
  var commit: UInt64
}
