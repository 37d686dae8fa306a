import Files

extension DirectoryBackend {
  /// Copies the store into a new directory, as a follower of this store.
  ///
  /// Open the copy and pass it to a ``StoreFollower``. The directory appears when the copy is
  /// complete.
  ///
  /// Complexity: linear in the size of all records.
  ///
  /// - Parameters:
  ///   - directory: The target, which must not exist or be empty.
  ///   - progress: Receives the progress of the copy.
  /// - Throws: ``StoreError`` with `historyExpired` if the store keeps no history, or an error of
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

extension LoggedBackend {
  /// Copies a snapshot of the store record by record, and lets a closure change the copy before it
  /// gets its final name.
  ///
  /// Complexity: linear in the size of all records.
  ///
  /// - Throws: ``StoreError``, as ``backup(to:progress:)``; an error of the closure.
  public func copy(
    to directory: String, progress: (IntegrityProgress) -> Void,
    finishing: (any DirectoryBackend) throws(StoreError) -> Void
  ) throws(StoreError) {
    let state = isSnapshot ? self : try snapshot() as? LoggedBackend ?? self
    try state.copy(to: directory, progress) { (copy) throws(StoreError) in try finishing(copy) }
  }
}
