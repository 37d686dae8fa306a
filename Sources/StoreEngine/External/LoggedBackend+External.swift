extension LoggedBackend {
  /// The files of values that are stored outside of records; nil where the files keep none.
  public var externalStorage: (any ExternalStorage)? { files.external }

  /// Removes values that a process has left which died before it could commit, or after the commit
  /// that dropped them.
  ///
  /// Asks nothing of the disk in a store that has no values.
  func removeStrayValues() {
    guard !isReadOnly, let external = files.external, external.mayHaveStrays else { return }
    // Where the list can't be read, a check tells, and nothing is removed.
    guard let used = try? usedValues(), let values = try? external.list() else { return }
    for (id, _) in values where !used.contains(id) { try? external.removeStray(id) }
  }

  private func usedValues() throws(StoreError) -> Set<ExternalID> {
    var used: Set<ExternalID> = []
    try ExternalCatalogue(self).forEach { reference, _ in used.insert(reference.id) }
    return used
  }
}

extension RecordFiles {
  /// None: values of any size stay in their records.
  public var external: ExternalFiles? { nil }
}
