public import StoreEngine

extension Store {
  /// Returns the commits after a number, with the old and new values of the objects that they have
  /// changed.
  ///
  ///     try backend.beginHistory()
  ///     // …
  ///     for commit in try store.history(after: seen, of: [Song.self]) {
  ///       for change in commit.changes where change.kind == .updated {
  ///         print(commit.commit.author, change.id, change.changedProperties)
  ///       }
  ///       seen = commit.commit.number
  ///     }
  ///
  /// You only have to keep the number: commits never change theirs. Commits that have changed none
  /// of the classes are left out. The result includes everything that is saved, by any store or
  /// program.
  ///
  /// Complexity: linear in the entries of the history after the number.
  ///
  /// - Parameters:
  ///   - number: The last commit that you know; nil returns the history from its beginning.
  ///   - classes: The classes that you are interested in; empty for all.
  ///   - authors: The authors that you are interested in; empty for all.
  ///   - limit: The maximum number of commits to return; nil for all.
  /// - Returns: The commits in the order of their numbers.
  /// - Throws: ``/StoreEngine/StoreError`` with `historyExpired` if the store keeps no history, or
  ///   if some commits after the number are not in it; or with `damaged`, `ioError` or `closed`.
  public func history(
    after number: UInt64? = nil, of classes: [StoredObject.Type] = [], authors: Set<String> = [],
    limit: Int? = nil
  ) throws(StoreError) -> [HistoryCommit] {
    if limit == 0 { return [] }
    var commits: [HistoryCommit] = []
    let names = classes.isEmpty ? nil : Set(classes.map(\.storedName))
    do {
      try HistoryReader(backend, registered: self.classes).forEachCommit(
        after: number, of: names, where: { authors.isEmpty || authors.contains($0.author) }
      ) { commit in
        commits.append(commit)
        return commits.count == limit ? .pause : .next
      }
    } catch { throw .wrapping(error, .ioError, at: .init(path: backend.location)) }
    return commits
  }

  /// Returns the objects that differ between two commits, with their values at both.
  ///
  ///     let changes = try store.differences(from: lastMonday, to: backend.lastCommitNumber)
  ///
  /// An object that was changed and changed back is left out. The result includes everything that
  /// is saved, by any store or program.
  ///
  /// Complexity: linear in the entries of the history after the earlier commit. Memory: the size of
  /// their changes.
  ///
  /// - Parameters:
  ///   - old: The commit with the old values.
  ///   - new: The commit with the new values; it may be the earlier of the two.
  ///   - classes: The classes that you are interested in; empty for all.
  /// - Returns: The objects by class and row.
  /// - Throws: ``/StoreEngine/StoreError`` with `historyExpired` if some commits between the two
  ///   are not in the history, with `invalidArgument` for a commit that is still to come, or with
  ///   `damaged`, `ioError` or `closed`.
  public func differences(
    from old: UInt64, to new: UInt64, of classes: [StoredObject.Type] = []
  ) throws(StoreError) -> [HistoryChange] {
    let names = classes.isEmpty ? nil : Set(classes.map(\.storedName))
    do {
      return try HistoryReader(backend, registered: self.classes)
        .differences(from: old, to: new, of: names)
    } catch { throw .wrapping(error, .ioError, at: .init(path: backend.location)) }
  }
}
