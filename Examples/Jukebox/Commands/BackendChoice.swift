import ArgumentParser
import CDBBackend
import Foundation
import StoredObjects

/// The backends that a store may be kept by.
enum BackendChoice: String, CaseIterable, ExpressibleByArgument {
  case tokyoCabinet = "tokyo-cabinet"
  case cdb

  /// What a command is going to do with a store.
  enum Access: Equatable {
    /// Looks at it; several processes may do so together.
    case reading
    /// Changes it.
    case changing
    /// Changes it, and makes it first if need be, for about so many songs.
    case making(songCount: Int)
  }

  /// The backend of the store that is in a directory; nil when there is none yet.
  static func found(in directory: String) -> BackendChoice? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    if names.contains(where: { $0.hasSuffix(".cdb") }) { return .cdb }
    return names.contains("Commit.log") ? .tokyoCabinet : nil
  }

  /// Opens a directory; makes it only for ``Access/making(songCount:)``.
  func open(_ directory: String, for access: Access) throws -> any StoreBackend {
    do {
      return try openOnce(directory, for: access)
    } catch let error as StoreError where error.code == .readOnly && access == .reading {
      // A process was killed while it saved. What it left is finished by whoever may write.
      try openOnce(directory, for: .changing).close()
      return try openOnce(directory, for: access)
    }
  }

  private func openOnce(_ directory: String, for access: Access) throws -> any StoreBackend {
    // Another command may be at work, and is soon done.
    let timeout = Duration.seconds(5)
    switch self {
    case .cdb:
      var configuration = CDBBackend.Configuration(
        access: access == .reading ? .readOnly : .readWrite, createIfMissing: access.mayMake)
      configuration.lockTimeout = timeout
      return try CDBBackend(directory: directory, configuration: configuration)
    case .tokyoCabinet:
      var configuration = TokyoCabinetBackend.Configuration(createIfMissing: false)
      configuration.lockTimeout = timeout
      switch access {
      case .reading: configuration.access = .readOnly
      case .changing: break
      case .making(let count):
        configuration.createIfMissing = true
        configuration.expectedRecordCount = count
      }
      return try TokyoCabinetBackend(directory: directory, configuration: configuration)
    }
  }
}
