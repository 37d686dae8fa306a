package import Files

/// The state of the files that every save of a store changes, to notice saves of other programs.
package struct StoreStamp: Equatable, Sendable {
  private let files: [File?]

  private struct File: Equatable, Sendable {
    let identity: FileIdentity
    let size: Int
    let modified: Int64
  }

  /// An upper bound of the resolution of a file's modification time.
  ///
  /// Two commits in quick succession can have the same time. A stamp that was taken so soon after a
  /// read does not show that nothing has changed since.
  package static let clockStep = Duration.milliseconds(50)

  /// Reads the state of the files.
  ///
  /// - Parameter location: Returns the location of a file of the store.
  package init(_ location: (_ name: String) -> FileLocation) {
    files = [StoreDirectory.log, StoreDirectory.manifest].map { name in
      guard let status = try? FileStatus.find(location(name)) else { return nil }
      return File(
        identity: status.identity, size: status.size, modified: status.modificationTime)
    }
  }

  /// Reads the state of the files in a directory.
  package init(directory: String) { self.init { FileLocation(directory + "/" + $0) } }
}
