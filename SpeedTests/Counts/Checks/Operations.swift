import SpeedWorkloads
import StoredObjectsCore

/// A store in a separate directory, for these checks.
struct Operations: Sendable {
  let directory: String

  private func withStore(_ body: (Store) throws -> Void) throws {
    try Workspace(engine: engines[0], directory: directory, durability: .full)
      .withStore(body)
  }

  private func insert(_ store: Store, _ number: Int) {
    store.insert(Song(title: "Song \(number)", seconds: UInt32(number % 600)))
  }

  /// Inserts and saves one object a number of times, in a store that has had some saves before.
  func smallSaves(_ count: Int) throws -> Counts {
    var counts = Counts()
    try withStore { store in
      try save(store, 100)
      counts = try Counts.of { try save(store, count) }
    }
    return counts
  }

  private func save(_ store: Store, _ count: Int) throws {
    for number in 0..<count {
      insert(store, number)
      try store.saveChanges()
    }
  }

  /// Inserts a number of objects, saves once, and closes.
  func insert(_ count: Int) throws -> Counts {
    try Counts.of {
      try withStore { store in
        for number in 0..<count { insert(store, number) }
        try store.saveChanges()
      }
    }
  }

  /// Fetches all objects, and keeps them.
  func fetchAll() throws -> Counts {
    var counts = Counts()
    try withStore { store in
      counts = try Counts.of { _ = try store.allObjects(of: Song.self) }
    }
    return counts
  }

  /// Looks up a number of objects, one after another, and keeps none.
  func lookUp(_ count: Int) throws -> Counts {
    var counts = Counts()
    try withStore { store in
      counts = try Counts.of {
        for number in 0..<count { _ = try store.object(Song.self, rowID: UInt32(number * 7 + 2)) }
      }
    }
    return counts
  }

  /// Opens, reads one object, and closes.
  func openAndClose() throws -> Counts {
    try Counts.of {
      try withStore { store in _ = try store.object(Song.self, rowID: 2) }
    }
  }
}
