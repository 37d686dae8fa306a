package import Foundation
package import StoreEngine
package import StoredObjectsCore

/// A commit in the list of a history.
package struct CommitSummary: Sendable {
  /// The number.
  package let number: UInt64
  /// The time, if the program recorded it.
  package let time: Date?
  /// The author.
  package let author: String
  /// The number of objects that the commit inserted, changed and deleted, by class.
  package let counts: [(className: String, inserted: Int, updated: Int, deleted: Int)]
}

extension BrowsedState {
  /// Returns the commits of the history before a number, the newest first.
  ///
  /// - Parameters:
  ///   - number: The first commit to leave out; nil for the newest commits.
  ///   - limit: The maximum number of commits.
  /// - Returns: The commits, and the number before which there are more; nil at the end.
  /// - Throws: ``BrowsingError`` with `notFound` without a history; ``/StoreEngine/StoreError``.
  package func commits(
    before number: UInt64?, limit: Int
  ) throws -> (commits: [CommitSummary], next: UInt64?) {
    guard let start = try backend.historyStart() else {
      throw BrowsingError(
        .notFound, "The store keeps no history. Begin one with: stored-objects history DIR --begin")
    }
    let end = min(number ?? .max, self.number &+ 1)
    guard end > start + 1 else { return ([], nil) }
    let first = max(start, end - 1 > UInt64(limit) ? end - 1 - UInt64(limit) : 0)
    var found: [CommitSummary] = []
    try backend.forEachHistoryEntry(after: first) { entry in
      guard entry.commit.number < end else { return .pause }
      found.append(Self.summary(entry))
      return .next
    }
    return (found.reversed(), first > start ? first + 1 : nil)
  }

  private static func summary(_ entry: HistoryEntry) -> CommitSummary {
    let counts = entry.tables.map { table in
      var counts = (className: table.name, inserted: 0, updated: 0, deleted: 0)
      for record in table.objects {
        switch (record.before, record.after) {
        case (nil, _): counts.inserted += 1
        case (_, nil): counts.deleted += 1
        default: counts.updated += 1
        }
      }
      return counts
    }.filter { $0.inserted + $0.updated + $0.deleted > 0 }
    return CommitSummary(
      number: entry.commit.number, time: entry.commit.time, author: entry.commit.author,
      counts: counts)
  }

  /// Returns a reader of the history that also finds the properties beside those of custom types.
  ///
  /// The value of a custom type is a dictionary with its bytes, as in an export.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`.
  package func historyReader() throws(StoreError) -> HistoryReader {
    try HistoryReader(backend) { [self] className, rowID, record in
      guard let found = try? browsedClass(className).record(rowID, record),
        !found.properties.isEmpty
      else { return nil }
      return try? values(of: found)
    }
  }

  /// Returns a commit with the objects that it changed.
  ///
  /// - Throws: ``BrowsingError`` with `notFound`; ``/StoreEngine/StoreError``.
  package func commit(_ number: UInt64) throws -> HistoryCommit {
    var found: HistoryCommit?
    guard number > 0 else { throw BrowsingError(.notFound, "There is no commit 0.") }
    try historyReader().forEachCommit(
      after: number - 1, where: { $0.number == number }
    ) { commit in
      found = commit
      return .pause
    }
    guard let found else {
      throw BrowsingError(.notFound, "Commit \(number) has changed no objects.")
    }
    return found
  }

  /// Returns the store as it was after a commit.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `historyExpired` or `invalidArgument`.
  package func state(asOf number: UInt64) throws(StoreError) -> BrowsedState {
    try BrowsedState(backend.snapshot(asOf: number))
  }
}
