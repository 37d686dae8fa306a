extension LoggedBackend {
  /// The files of external values.
  public var externalStorage: (any ExternalStorage)? { files.external }

  /// Removes values that a process left when it died before its commit, or after dropping them.
  ///
  /// It does not access the disk in a store without external values.
  func removeStrayValues() {
    guard !isReadOnly, files.external.mayHaveStrays else { return }
    // If the list can't be read, nothing is removed, and a check reports the problem.
    guard let used = try? usedValues(), let values = try? files.external.list() else { return }
    for (id, _) in values where !used.contains(id) { try? files.external.removeStray(id) }
  }

  private func usedValues() throws(StoreError) -> Set<ExternalID> {
    var used: Set<ExternalID> = []
    try ExternalCatalogue(self).forEach { reference, _ in used.insert(reference.id) }
    return used
  }
}
