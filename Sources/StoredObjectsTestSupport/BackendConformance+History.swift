import StoredObjectsCore

// The history that a store keeps of its commits.
extension BackendConformance {
  static let history: [Check] = [
    .opened("A store keeps no history until one is begun, and reports it") { backend in
      try backend.commit { $0.insert(2, in: try backend.table(named: "Song"), [1]) }
      try expectEqual(try backend.historyStart(), nil, "the start of a history")
      try expectError(.historyExpired, "reading one") { _ = try entries(backend, after: 0) }
      try expectError(.historyExpired, "shortening one") { try backend.purgeHistory(through: 1) }
      try backend.endHistory()
      if !backend.remembersCommits {
        try expectError(.invalidArgument, "beginning one") { try backend.beginHistory() }
      }
    },
    .opened("An entry has the state before and after a commit") { backend in
      try rememberChanges(backend)
    },
    Check("After random saves, entries lead from one state to the next, also after reopening") {
      try followEntries($0)
    },
    Check("A store can be reverted to any commit of its history, by a new commit") {
      try goBack($0)
    },
    Check("A snapshot as of any commit of the history has its state, and does not change") {
      try showEarlierStates($0)
    },
    .opened("A history keeps entries by age, by size, and for consumers") { backend in
      try keepHistory(backend)
    },
    .opened("All commits of many threads have entries, in order") { backend in
      try rememberThreads(backend)
    },
    .opened("A history is purged and ended, and reading removed entries is an error") { backend in
      try shortenHistory(backend)
    },
    Check("A copy has the history of its source, and continues it") { try copyHistory($0) },
  ]

  private static func entries(
    _ backend: any StoreBackend, after number: UInt64
  ) throws -> [HistoryEntry] {
    var entries: [HistoryEntry] = []
    try backend.forEachHistoryEntry(after: number) { entry in
      entries.append(entry)
      return .next
    }
    return entries
  }

  // MARK: Entries

  private static func rememberChanges(_ backend: any StoreBackend) throws {
    guard backend.remembersCommits else { return }
    let song = try backend.table(named: "Song")
    try backend.commit {
      $0.insert(2, in: song, [1, 2, 3])
      $0.set("Favorite", [7])
    }
    try backend.beginHistory()
    try backend.beginHistory()
    try expectEqual(try backend.historyStart(), 2, "the start of the history")
    var changes = ChangeSetBuilder()
    changes.update(1, in: song, [5])
    changes.update(2, in: song, [1, 9, 9, 3])
    changes.insert(3, in: song, [])
    changes.delete(4, in: song)
    changes.set("Favorite", nil)
    changes.set("Order", [])
    let (words, titles) = try (
      backend.orderedTable(OrderedTableName("Words", kind: .data)),
      backend.orderedTable(OrderedTableName("Titles", kind: .index))
    )
    changes.set([2], to: [3], in: words)
    changes.set([1], to: [4], in: words)
    changes.set([2], to: [5], in: words)
    changes.set([9], to: nil, in: words)
    changes.set([7], to: [], in: titles)
    try backend.commit(changes.changeSet, CommitRequest(author: "Ann"))
    // This commit changes nothing that a history records.
    try backend.commit { $0.update(2, in: song, [1, 9, 9, 3]) }
    changes = ChangeSetBuilder()
    changes.delete(2, in: song)
    changes.clear(words)
    changes.set([1], to: [4], in: words)
    changes.clear(titles)
    changes.set([7], to: nil, in: titles)
    try backend.commit(changes.changeSet)
    let found = try entries(backend, after: 2)
    try expectEqual(found.map(\.commit.number), [3, 5], "the numbers of the entries")
    try expectEqual(found.map(\.commit.author), ["Ann", ""], "their authors")
    try expectEqual(found.map { $0.tables.map(\.name) }, [["Song"], ["Song"]], "their classes")
    try expectEqual(
      found.map { $0.tables[0].records },
      [
        [
          .init(rowID: 1, before: nil, after: [5]),
          .init(rowID: 2, before: [1, 2, 3], after: [1, 9, 9, 3]),
          .init(rowID: 3, before: nil, after: []),
        ], [.init(rowID: 2, before: [1, 9, 9, 3], after: nil)],
      ], "their records")
    try expectEqual(
      found[0].buffers,
      [
        .init(name: "Favorite", before: [7], after: nil),
        .init(name: "Order", before: nil, after: []),
      ], "the buffers")
    try expectEqual(
      found.map { $0.orderedTables.map(\.name.description) },
      [["Words.ordered", "Titles.index"], ["Words.ordered", "Titles.index"]], "ordered tables")
    try expectEqual(
      found.map { $0.orderedTables.map(\.keys) },
      [
        [
          [.init(key: [1], before: nil, after: [4]), .init(key: [2], before: nil, after: [5])],
          [.init(key: [7], before: nil, after: [])],
        ],
        [
          [.init(key: [2], before: [5], after: nil)],
          [.init(key: [7], before: nil, after: nil)],
        ],
      ], "their keys")
    try expectEqual(
      found.map { $0.orderedTables.map(\.isCleared) }, [[false, false], [false, true]],
      "which are cleared")
    try expectEqual(try entries(backend, after: 3).count, 1, "entries after the first")
    try expectEqual(try entries(backend, after: 5).count, 0, "entries after the last")
  }

  /// Returns the part of a store that a history records: all but metadata rows and the history.
  private static func remembered(_ image: StoreImage) -> StoreImage {
    var remembered = StoreImage()
    for (name, records) in image.tables {
      for (row, record) in records where row > ClassMetadata.rowID {
        remembered.set(name, row, record)
      }
    }
    for (name, buffer) in image.names { remembered.set(name, buffer) }
    for (key, value) in image.keys["\(ScriptedSave.index)"] ?? [:] {
      remembered.set(key, to: value, in: ScriptedSave.index)
    }
    return remembered
  }

  /// Commits random saves with a history, and sometimes reopens the location.
  ///
  /// - Returns: The backend, and the store after each commit by its number; nil for a backend that
  ///   keeps no history.
  private static func saveAtRandom(
    _ location: any BackendLocation, _ use: String, count: Int
  ) throws -> (any StoreBackend, [UInt64: StoreImage])? {
    var generator = Seeds.generator(for: use)
    let seed = generator.next()
    var backend = try location.open()
    guard backend.remembersCommits else { return nil }
    var image = StoreImage()
    for number in 1...5 {
      let save = ScriptedSave(number, seed: seed, largeByteCount: 3000)
      try save.commit(to: backend)
      image.apply(save)
    }
    try backend.beginHistory()
    var images = [backend.lastCommitNumber: remembered(image)]
    for number in 6...count + 5 {
      let save = ScriptedSave(number, seed: seed, largeByteCount: 3000)
      try save.commit(to: backend)
      image.apply(save)
      images[backend.lastCommitNumber] = remembered(image)
      if generator.next() % 12 == 0 {
        try backend.close()
        backend = try location.open()
      }
    }
    return (backend, images)
  }

  private static func followEntries(_ location: any BackendLocation) throws {
    guard let (backend, images) = try saveAtRandom(location, "entries of a history", count: 60)
    else { return }
    let start = try backend.historyStart() ?? 0
    guard var image = images[start] else {
      throw ConformanceFailure("the history begins elsewhere")
    }
    for entry in try entries(backend, after: start) {
      for table in entry.tables {
        for record in table.objects {
          let before = image.tables[table.name]?[record.rowID]
          try expectEqual(record.before, before, "the old record of \(table.name) \(record.rowID)")
          image.set(table.name, record.rowID, record.after)
        }
      }
      for change in entry.buffers {
        try expectEqual(change.before, image.names[change.name], "the old buffer \(change.name)")
        image.set(change.name, change.after)
      }
      for table in entry.orderedTables {
        for change in table.keys {
          try expectEqual(
            change.before, image.keys["\(table.name)"]?[change.key], "what a key's value was")
          image.set(change.key, to: change.after, in: table.name)
        }
      }
      try expectEqual(
        images[entry.commit.number].map { image.differences(from: $0) }, [], "differences")
    }
    try expectEqual(
      images[backend.lastCommitNumber].map { image.differences(from: $0) }, [], "differences")
    try backend.close()
  }

  private static func goBack(_ location: any BackendLocation) throws {
    guard let (backend, images) = try saveAtRandom(location, "going back", count: 40) else {
      return
    }
    var generator = Seeds.generator(for: "where to go back to")
    var states = images
    for _ in 0..<8 {
      guard let (number, image) = states.randomElement(using: &generator) else { break }
      let last = backend.lastCommitNumber
      let commit = try backend.revert(toCommit: number, author: "Ann")
      let now = remembered(try StoreImage(of: backend))
      try expectEqual(now.differences(from: image), [], "differences after going back")
      if let commit {
        try expectEqual(commit.number, last + 1, "the number of the commit")
        states[commit.number] = now
      }
    }
    try expectError(.historyExpired, "before the beginning") {
      try backend.revert(toCommit: (try backend.historyStart() ?? 0) - 1)
    }
    try backend.close()
  }

  private static func showEarlierStates(_ location: any BackendLocation) throws {
    guard let (backend, images) = try saveAtRandom(location, "earlier states", count: 40) else {
      return
    }
    var generator = Seeds.generator(for: "which states to show")
    let start = try backend.historyStart() ?? 0
    var held: [(any StoreBackend, UInt64)] = []
    for _ in 0..<6 {
      guard let number = images.keys.sorted().randomElement(using: &generator) else { break }
      held.append((try backend.snapshot(asOf: number), number))
      // The snapshot does not contain later commits.
      try backend.commit { $0.update(2, in: try backend.table(named: "Song"), [UInt8(number)]) }
    }
    for (snapshot, number) in held {
      let image = try StoreImage(of: snapshot)
      try expectEqual(
        images[number].map { remembered(image).differences(from: $0) }, [],
        "differences at commit \(number)")
      try expectEqual(snapshot.lastCommitNumber, number, "the last commit of the snapshot")
      // A random commit may have no changes, and is not among the entries then.
      try expectEqual(
        try entries(snapshot, after: start).map(\.commit.number),
        try entries(backend, after: start).map(\.commit.number).filter { $0 <= number },
        "the entries of the snapshot")
      try expectError(.readOnly, "a commit") {
        try snapshot.commit { $0.insert(99, in: try snapshot.table(named: "Song"), []) }
      }
    }
    try expectError(.historyExpired, "a commit before the history") {
      _ = try backend.snapshot(asOf: start - 1)
    }
    try expectError(.invalidArgument, "a commit of the future") {
      _ = try backend.snapshot(asOf: backend.lastCommitNumber + 1)
    }
    for (snapshot, _) in held { try snapshot.close() }
    try backend.close()
  }

  private static func keepHistory(_ backend: any StoreBackend) throws {
    guard backend.remembersCommits else { return }
    try expectError(.historyExpired, "noting a consumer") {
      try backend.noteHistorySeen(by: "search", through: 1)
    }
    let song = try backend.table(named: "Song")
    try backend.beginHistory()
    let start = backend.lastCommitNumber
    for row in UInt32(2)..<22 {
      try backend.commit { $0.insert(row, in: song, Array(repeating: 7, count: 1000)) }
    }
    try expectEqual(
      try backend.purgeHistory(keeping: HistoryRetention()), start, "nothing that anybody has seen")
    try expectEqual(
      try backend.purgeHistory(keeping: HistoryRetention(age: .seconds(3600))), start, "an hour")
    try backend.noteHistorySeen(by: "search", through: start + 4)
    try backend.noteHistorySeen(by: "mail", through: start + 6)
    try expectEqual(
      try backend.historyConsumers(), ["search": start + 4, "mail": start + 6], "the consumers")
    try expectEqual(
      try backend.purgeHistory(keeping: HistoryRetention(byteCount: 0)), start + 4,
      "what the slower one has not seen")
    try backend.noteHistorySeen(by: "search", through: nil)
    try expectEqual(
      try backend.purgeHistory(keeping: HistoryRetention()), start + 6, "what the other has seen")
    // About 1,100 bytes for each entry, and less than 100 for each of the five commits since.
    let retention = HistoryRetention(byteCount: 5900, waitsForConsumers: false)
    try expectEqual(
      try backend.purgeHistory(keeping: retention), start + 15, "the newest ones of a size")
    try expectEqual(
      try entries(backend, after: start + 15).map(\.commit.number), Array(start + 16...start + 20),
      "what is left")
    let none = HistoryRetention(age: .zero, waitsForConsumers: false)
    try expectEqual(
      try backend.purgeHistory(keeping: none) >= start + 20, true, "what is older than now")
    try expectError(.invalidName, "a consumer without a name") {
      try backend.noteHistorySeen(by: "", through: 1)
    }
  }

  private static func rememberThreads(_ backend: any StoreBackend) throws {
    guard backend.remembersCommits else { return }
    let song = try backend.table(named: "Song")
    try backend.beginHistory()
    let start = backend.lastCommitNumber
    try runOnThreads(4) { thread in
      for number in 0..<UInt8(25) {
        try backend.commit {
          $0.update(1, in: song, [UInt8(thread), number])
          $0.insert(2 + UInt32(thread) * 100 + UInt32(number), in: song, [number])
          // All threads write the same row: each entry has the value of the commit before it.
          $0.update(1000, in: song, [UInt8(thread), number])
        }
      }
    }
    let found = try entries(backend, after: start)
    try expectEqual(found.map(\.commit.number), Array(start + 1...start + 100), "the numbers")
    var last: [UInt8]?
    for entry in found {
      let shared = entry.tables[0].records.first { $0.rowID == 1000 }
      try expectEqual(shared?.before, last, "the state after the commit before")
      last = shared?.after
    }
    try expectEqual(last, try backend.record(1000, in: song), "the state after the last one")
  }

  private static func shortenHistory(_ backend: any StoreBackend) throws {
    guard backend.remembersCommits else { return }
    let song = try backend.table(named: "Song")
    try backend.beginHistory()
    for row in UInt32(2)..<12 { try backend.commit { $0.insert(row, in: song, [1]) } }
    try backend.purgeHistory(through: 6)
    try backend.purgeHistory(through: 3)
    try expectEqual(try backend.historyStart(), 6, "the start after the purge")
    try expectError(.historyExpired, "purged entries") { _ = try entries(backend, after: 5) }
    try expectEqual(
      try entries(backend, after: 6).map(\.commit.number), [7, 8, 9, 10, 11], "what is left")
    try backend.commit { $0.insert(50, in: song, [1]) }
    try expectEqual(try entries(backend, after: 11).count, 1, "later saves")
    try backend.endHistory()
    try expectEqual(try backend.historyStart(), nil, "the start once it is ended")
    try backend.commit { $0.insert(51, in: song, [1]) }
    try backend.beginHistory()
    try expectEqual(
      try entries(backend, after: backend.lastCommitNumber).count, 0, "what is left of the old one")
  }

  private static func copyHistory(_ location: any BackendLocation) throws {
    guard let (backend, _) = try saveAtRandom(location, "a copied history", count: 20) else {
      return
    }
    let target = try MemoryBackend()
    try BackendCopy(from: backend, to: target).run()
    let start = try backend.historyStart() ?? 0
    try expectEqual(try target.historyStart(), start, "the start in the copy")
    try expectEqual(
      try entries(target, after: start).map(\.commit),
      try entries(backend, after: start).map(\.commit), "the commits in the copy")
    try target.commit { $0.insert(77_777, in: try target.table(named: "Song"), [1]) }
    try expectEqual(
      try entries(target, after: backend.lastCommitNumber).count, 1, "what the copy adds")
    try backend.close()
  }
}
