import ArgumentParser
import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsEncryption

/// The copy that follows a store.
struct FollowerArgument: ParsableArguments {
  @Argument(
    help: "The directory of the copy; a new one is made unless it is there.",
    completion: .directory)
  var target: String
  @Option(help: "The backend of a new copy: tokyo-cabinet or cdb.")
  var backend = StoreFormat.tokyoCabinet

  /// Whether there is a copy, or something else.
  var exists: Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: target)) ?? []
    return names.contains { !$0.hasPrefix(".") }
  }

  /// The format of what is there, or of what is to be.
  private var format: StoreFormat {
    guard exists, let names = try? FileManager.default.contentsOfDirectory(atPath: target) else {
      return backend
    }
    return StoreFormat(ofDirectoryWith: names)
  }

  /// Opens the copy; other processes may read it meanwhile if they share it.
  func open(_ key: EncryptionKey?) throws -> any DirectoryBackend {
    // Only one process can make the first copy.
    try format.open(
      target, sharing: exists ? .processes : .exclusive, lockTimeout: StoreArgument.lockTimeout,
      key: key)
  }

  /// The last commit that the copy has; 0 where there is no copy yet.
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
  /// The last commit that the copy has.
  var commit: UInt64
}
