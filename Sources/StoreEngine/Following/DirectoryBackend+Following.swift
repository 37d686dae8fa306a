import Files

extension DirectoryBackend {
  /// Copies the store into a new directory, as a copy that follows it.
  ///
  /// Open the copy, and give it to a ``StoreFollower``. It gets its name once it is whole.
  ///
  /// Complexity: linear in the size of all records.
  ///
  /// - Parameters:
  ///   - directory: The target, which must not exist, or be empty.
  ///   - progress: Receives how far it has come.
  /// - Throws: ``StoreError`` with `historyExpired` where the store keeps no history, and as
  ///   ``backup(to:progress:)``.
  public func makeFollower(
    in directory: String, progress: (IntegrityProgress) -> Void = { _ in }
  ) throws(StoreError) {
    _ = try historyPosition()
    try copy(to: directory, progress: progress) { (copy) throws(StoreError) in
      try copy.beginFollowing()
    }
  }
}

extension LoggedBackend where Files: DirectoryFiles {
  /// Copies the store record by record, as it is at this moment, and has a closure change the copy
  /// before it gets its name.
  ///
  /// - Throws: ``StoreError``, as ``backup(to:progress:)``; what the closure throws.
  public func copy(
    to directory: String, progress: (IntegrityProgress) -> Void,
    finishing: (any DirectoryBackend) throws(StoreError) -> Void
  ) throws(StoreError) {
    let state = isSnapshot ? self : try snapshot() as? LoggedBackend ?? self
    try state.copy(to: directory, progress) { (copy) throws(StoreError) in try finishing(copy) }
  }
}
