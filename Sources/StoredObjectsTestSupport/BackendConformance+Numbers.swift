import FoundationEssentials
import StoredObjectsCore

// The numbers and tokens of commits, and the commits that they are based on.
extension BackendConformance {
  static let numbers: [Check] = [
    .opened("Commits have numbers from 1 without gaps; refused and empty ones have none") {
      backend in
      let table = try backend.table(named: "Song")
      try expectEqual(backend.lastCommitNumber, 0, "the number before the first commit")
      for number in 1...UInt64(40) {
        let commit = try backend.commit(insertion(UInt32(number) + 1, table), CommitRequest())
        try expectEqual(commit?.number, number, "the number of a commit")
        try expectEqual(backend.lastCommitNumber, number, "the last number")
        try expectError(.rowExists, "a second insert") {
          try backend.commit(insertion(UInt32(number) + 1, table))
        }
        try expectEqual(try backend.commit(ChangeSet())?.number, nil, "an empty commit")
      }
      try expectEqual(backend.lastCommitNumber, 40, "the last number")
    },
    Check("Numbers continue when a store is opened again") { location in try numbersGoOn(location)
    },
    Check("A copy continues the numbers of its source, whatever the number of commits for copying")
    {
      try copyGoesOn($0)
    },
    .opened("A commit has the author and time of its request and is found by its token") {
      backend in
      try findCommits(backend)
    },
    .opened("Random tokens of a backend are all different") { backend in
      let table = try backend.table(named: "Song")
      var tokens: Set<UUID> = []
      for row in 2..<UInt32(102) {
        guard let commit = try backend.commit(insertion(row, table)) else { continue }
        tokens.insert(commit.token)
      }
      try expectEqual(tokens.count, 100, "tokens")
    },
    .opened("An author that is too long is refused, and nothing is written") { backend in
      let table = try backend.table(named: "Song")
      try expectError(.invalidArgument, "256 bytes") {
        try backend.commit(
          insertion(2, table), CommitRequest(author: String(repeating: "a", count: 256)))
      }
      try expectEqual(try backend.recordCount(in: table), 0, "records")
      let commit = try backend.commit(
        insertion(2, table), CommitRequest(author: String(repeating: "ä", count: 127)))
      try expectEqual(commit?.author.count, 127, "characters of an author of 254 bytes")
    },
    .opened("The changes since a number are reported, row by row") { backend in
      try tellChanges(backend)
    },
    .opened("A commit is refused if others have changed its rows after its basis") { backend in
      try rejectsOutdatedRows(backend)
    },
    .opened("A commit is refused if others have changed its buffers or keys after its basis") {
      backend in try rejectsOutdatedKeys(backend)
    },
    .opened("A commit is refused if it depends on changed rows or keys of others") {
      backend in
      try rejectsOutdatedBasis(backend)
    },
    .opened("A commit without a basis overwrites the commits of others") { backend in
      let table = try backend.table(named: "Song")
      try backend.commit { $0.insert(2, in: table, [1]) }
      try backend.commit { $0.update(2, in: table, [2]) }
      try expectEqual(try backend.record(2, in: table), [2], "the row")
    },
    .opened("A basis of another store, or of long ago, is refused") { backend in
      let table = try backend.table(named: "Song")
      try backend.commit { $0.insert(2, in: table, [1]) }
      try expectError(.conflict, "a number that is still to come") {
        try backend.commit(
          insertion(3, table), CommitRequest(basis: CommitBasis(upTo: 1000)))
      }
      try expectEqual(try backend.recordCount(in: table), 1, "records")
    },
    .opened("Row IDs are reserved in blocks, after the last one in the metadata row") { backend in
      try reserveRows(backend)
    },
    .opened("Records are read in batches, in the requested order") { backend in
      let table = try filledTable(backend, rows: 50)
      let all = try backend.records(in: table)
      var batch = RecordBatch()
      try backend.copyRecords([7, 3, 4_000_000, 49, 3], of: table, to: &batch)
      try expectEqual(batch.records.map(\.rowID), [7, 3, 49, 3], "rows")
      try expectEqual(
        batch.records.map { $0.bytes }, [7, 3, 49, 3].map { all[$0] ?? [] }, "records")
    },
  ]

  private static func insertion(_ row: UInt32, _ table: TableID) -> ChangeSet {
    var changes = ChangeSetBuilder()
    changes.insert(row, in: table, [UInt8(truncatingIfNeeded: row)])
    return changes.changeSet
  }

  private static func update(_ row: UInt32, _ table: TableID) -> ChangeSet {
    var changes = ChangeSetBuilder()
    changes.update(row, in: table, [0])
    return changes.changeSet
  }

  private static func numbersGoOn(_ location: any BackendLocation) throws {
    var last: Commit?
    for round in 0..<UInt32(6) {
      try withBackend(location) { backend in
        let table = try backend.table(named: "Song")
        try expectEqual(backend.lastCommitNumber, UInt64(round * 3), "the number when opened")
        if let last {
          try expectEqual(try backend.commit(withToken: last.token), last, "the last commit")
        }
        for row in 0..<UInt32(3) {
          // One of them is large, and may take another path to disk.
          let count = row == 1 ? 600_000 : 10
          var changes = ChangeSetBuilder()
          changes.insert(
            round * 3 + row + 2, in: table, [UInt8](repeating: UInt8(round), count: count))
          last = try backend.commit(
            changes.changeSet, CommitRequest(author: "round \(round)", time: .now))
        }
      }
    }
    try withBackend(location, readOnly: true) { backend in
      try expectEqual(backend.lastCommitNumber, 18, "the number for reading only")
      if let last {
        try expectEqual(try backend.commit(withToken: last.token), last, "the last commit")
      }
    }
  }

  private static func copyGoesOn(_ location: any BackendLocation) throws {
    let source = try MemoryBackend()
    var changes = ChangeSetBuilder()
    for name in ["Song", "Playlist", "Artist"] {
      changes.insert(2, in: try source.table(named: name), [1])
    }
    try source.commit(changes.changeSet)
    let request = CommitRequest(author: "Anna")
    let last = try source.commit(insertion(3, source.table(named: "Song")), request)
    try withBackend(location) { backend in
      try BackendCopy(from: source, to: backend).run()
      try expectEqual(backend.lastCommitNumber, 2, "the number of the copy")
    }
    for number in UInt64(3)...4 {
      try withBackend(location) { backend in
        if number == 3, let last {
          try expectEqual(try backend.commit(withToken: last.token), last, "the last commit")
        }
        let songs = try backend.table(named: "Song")
        let next = try backend.commit(insertion(UInt32(number) + 1, songs))
        try expectEqual(next?.number, number, "the number after that of the copy")
      }
    }
  }

  private static func findCommits(_ backend: any StoreBackend) throws {
    let table = try backend.table(named: "Song")
    let token = UUID()
    let time = Date(timeIntervalSince1970: 1_700_000_000.25)
    let request = CommitRequest(
      token: token, author: "Anna", time: time, basis: CommitBasis(upTo: 0))
    let commit = try backend.commit(insertion(2, table), request)
    try expectEqual(commit?.token, token, "the token")
    try expectEqual(commit?.author, "Anna", "the author")
    try expectEqual(commit?.time, time, "the time")
    try expectEqual(commit?.basedOn, 0, "the number that it is based on")
    let start = Date()
    let other = try backend.commit(insertion(3, table))
    let isNow = other?.time.map { $0 >= start - 1 && $0 <= Date() + 1 } ?? false
    try expect(isNow, "a commit whose time was not given is not of now")
    try expectEqual(other?.basedOn, nil, "a number that was not given")
    try expectEqual(try backend.commit(withToken: token), commit, "the found commit")
    try expectEqual(try backend.commit(withToken: UUID()), nil, "another token")
  }

  private static func tellChanges(_ backend: any StoreBackend) throws {
    let songs = try backend.table(named: "Song")
    let lists = try backend.table(named: "Playlist")
    try backend.commit {
      for row in 2...UInt32(9) { $0.insert(row, in: songs, [1]) }
      $0.update(1, in: songs, [1])
    }
    let number = backend.lastCommitNumber
    try backend.commit {
      $0.update(4, in: songs, [2])
      $0.delete(5, in: songs)
      $0.set("Name", [1])
    }
    try backend.commit {
      $0.insert(5, in: songs, [5])
      $0.delete(6, in: songs)
      $0.insert(2, in: lists, [2])
    }
    let changes = try backend.changes(since: number)
    try expectEqual(changes.number, number + 2, "the number that the answer goes up to")
    let tables = changes.tables.sorted { $0.table.index < $1.table.index }
    try expectEqual(tables.map(\.table), [songs, lists], "tables")
    try expectEqual(tables.map(\.written), [[4, 5], [2]], "rows that were written")
    try expectEqual(tables.map(\.deleted), [[6], []], "rows that were deleted")
    try expectEqual(changes.names, ["Name"], "names")
    let none = try backend.changes(since: backend.lastCommitNumber)
    try expect(none.tables.isEmpty && none.names.isEmpty, "something has changed since the last")
  }

  /// Commits on a basis, and returns the conflict with the changes of others, if there is one.
  private static func conflict(
    _ backend: any StoreBackend, _ changes: ChangeSet, _ basis: CommitBasis
  ) throws -> CommitConflict? {
    do {
      try backend.commit(changes, CommitRequest(basis: basis))
      return nil
    } catch {
      guard error.code == .conflict else { throw error }
      return error.underlying as? CommitConflict
    }
  }

  private static func rejectsOutdatedRows(_ backend: any StoreBackend) throws {
    let table = try filledTable(backend, rows: 20)
    let basis = CommitBasis(upTo: backend.lastCommitNumber)
    try backend.commit {
      $0.update(3, in: table, [3, 3])
      $0.delete(4, in: table)
    }
    let before = try backend.records(in: table)
    let number = backend.lastCommitNumber
    var changes = ChangeSetBuilder()
    for row in 2...UInt32(6) { changes.update(row, in: table, [0]) }
    let found = try conflict(backend, changes.changeSet, basis)
    let rows = [3, 4].map { CommitConflict.Row(table: "Song", rowID: $0) }
    try expectEqual(found?.rows, rows, "the rows that others have changed")
    try expectEqual(found?.lastNumber, number, "the last number")
    try expectEqual(try backend.records(in: table), before, "the records")
    try expectEqual(backend.lastCommitNumber, number, "the number after the refusal")
    try expect(try conflict(backend, update(5, table), basis) == nil, "another row is refused")
    let now = CommitBasis(upTo: backend.lastCommitNumber)
    try expect(try conflict(backend, changes.changeSet, now) == nil, "a new basis is refused")
    // The metadata row is part of every save, and never a conflict.
    try backend.commit { $0.update(1, in: table, [9]) }
    try expect(try conflict(backend, update(1, table), now) == nil, "the metadata row is refused")
  }

  private static func rejectsOutdatedKeys(_ backend: any StoreBackend) throws {
    let words = try backend.orderedTable(OrderedTableName("Words", kind: .data))
    let start = CommitBasis(upTo: backend.lastCommitNumber)
    var theirs = ChangeSet()
    theirs.set([5], to: [1], in: words)
    theirs.names = [.init(name: "Name", range: 0..<1)]
    try backend.commit(theirs)
    var mine = ChangeSet()
    mine.set([5], to: nil, in: words)
    let found = try conflict(backend, mine, start)
    try expectEqual(found?.orderedTables, ["Words.ordered"], "tables")
    var cleared = ChangeSet()
    cleared.clear(words)
    try expect(try conflict(backend, cleared, start) != nil, "a table is cleared over others' keys")
    var name = ChangeSet()
    name.names = [.init(name: "Name", range: nil)]
    try expectEqual(try conflict(backend, name, start)?.names, ["Name"], "names")
    var other = ChangeSet()
    other.set([6], to: [1], in: words)
    try expect(try conflict(backend, other, start) == nil, "another key is refused")
  }

  private static func rejectsOutdatedBasis(_ backend: any StoreBackend) throws {
    let table = try filledTable(backend, rows: 5)
    let words = try backend.orderedTable(OrderedTableName("Words", kind: .data))
    var basis = CommitBasis(upTo: backend.lastCommitNumber)
    basis.rows = [(table, 3)]
    basis.keys = [(words, .prefix([7]))]
    try backend.commit { $0.update(2, in: table, [1]) }
    var key = ChangeSet()
    key.set([8, 1], to: [], in: words)
    try backend.commit(key)
    try expect(try conflict(backend, update(4, table), basis) == nil, "others are in the way")
    try backend.commit { $0.update(3, in: table, [1]) }
    try expectEqual(try conflict(backend, update(5, table), basis)?.rows.map(\.rowID), [3], "row")
    basis.number = backend.lastCommitNumber
    key = ChangeSet()
    key.set([7, 1], to: [], in: words)
    try backend.commit(key)
    let found = try conflict(backend, update(5, table), basis)
    try expectEqual(found?.orderedTables, ["Words.ordered"], "tables")
  }

  private static func reserveRows(_ backend: any StoreBackend) throws {
    let new = try backend.table(named: "New")
    try expectEqual(try backend.reserveRows(1, in: new), 2...2, "the first row of a class")
    try expectEqual(try backend.reserveRows(16, in: new), 3...18, "a block")
    let table = try backend.table(named: "Song")
    var buffer = DataBuffer()
    ClassMetadata(lastRowID: 100, classVersion: 1, classID: 0, salt: .init(1, 2), flags: nil)
      .write(to: &buffer)
    try backend.commit { $0.insert(1, in: table, buffer.bytes) }
    try expectEqual(try backend.reserveRows(3, in: table), 101...103, "after the last row")
    try expectError(.rowIDsExhausted, "more than there are") {
      _ = try backend.reserveRows(Int(UInt32.max), in: table)
    }
  }
}
