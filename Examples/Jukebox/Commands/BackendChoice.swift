import ArgumentParser
import CDBBackend
import Foundation
import StoredObjects

/// The backends for a store in a directory.
enum BackendChoice: String, CaseIterable, ExpressibleByArgument {
  case tokyoCabinet = "tokyo-cabinet"
  case cdb

  /// Returns the backend of the store in a directory; nil if there is no store yet.
  static func found(in directory: String) -> BackendChoice? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    if names.contains(where: { $0.hasSuffix(".cdb") }) { return .cdb }
    return names.contains("Commit.log") ? .tokyoCabinet : nil
  }

  /// Opens a directory; creates it only for ``StoreAccess/making(songCount:)``.
  func open(_ directory: String, for access: StoreAccess) throws -> any StoreBackend {
    do {
      return try openOnce(directory, for: access)
    } catch let error as StoreError where error.code == .readOnly && access == .reading {
      // A process was killed while it saved. Opening the store for writing repairs it.
      try openOnce(directory, for: .changing).close()
      return try openOnce(directory, for: access)
    }
  }

  private func openOnce(_ directory: String, for access: StoreAccess) throws -> any StoreBackend {
    // Waits for another command that has the store open.
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
