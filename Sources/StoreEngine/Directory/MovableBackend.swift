/// A backend whose directory the program can move while it is open.
///
///     try FileManager.default.moveItem(atPath: "Music", toPath: "Old music")
///     try backend.follow(to: "Old music")
///
/// Without this call everything works as well, but messages have the old path, and checks report
/// the move.
package protocol MovableBackend: StoreBackend {
  /// Uses the path to which the program has moved the directory from now on.
  ///
  /// - Throws: ``StoreError`` with `ioError` if the path leads elsewhere, `closed` or `forked`.
  func follow(to directory: String) throws(StoreError)
}

extension LoggedBackend: MovableBackend {
  package func follow(to directory: String) throws(StoreError) {
    try files.directory.follow(to: directory)
  }
}
