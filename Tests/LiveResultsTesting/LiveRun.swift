import Foundation
package import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// Several stores on a backend, each with live results of all kinds, and what happens at random.
package struct LiveRun {
  private struct Side {
    let store: Store
    var mirrors: [any LiveMirror] = []
    /// Whether another store has saved since this one merged.
    var isBehind = false
  }

  /// The seed of the run, for failures: it repeats the run without those before it.
  @TaskLocal static var seed: UInt64 = 0
  private let seed: UInt64
  private var sides: [Side] = []
  private var random: SeededGenerator
  /// The number of saves so far.
  private var saves = 0

  /// Makes up to 400 steps on a backend.
  ///
  /// - Parameters:
  ///   - backend: An empty backend.
  ///   - seed: The seed, which repeats the run.
  ///   - isDone: Whether to end earlier.
  /// - Returns: The number of saves.
  /// - Throws: An error of a store.
  package static func saves(
    on backend: any StoreBackend, seed: UInt64, until isDone: () -> Bool = { false }
  ) throws -> Int {
    var run = try LiveRun(backend, seed: seed)
    for _ in 0..<400 where !isDone() { try run.step() }
    try run.finish()
    return run.saves
  }

  /// Opens stores with live results.
  private init(_ backend: any StoreBackend, seed: UInt64, stores: Int = 3) throws {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    for number in 0..<stores {
      let store = Store(backend: backend)
      try store.register(liveClasses)
      if number == 0 { try Self.populate(store) }
      if number != 1 { store.undoManager = StoreUndoManager() }
      store.isObservable = number == 2
      sides.append(Side(store: store, mirrors: try Self.mirrors(store)))
    }
  }

  private static func populate(_ store: Store) throws {
    for name in ["Ann", "Bob", "Cy"] {
      let performer = Performer()
      performer.name = name
      store.insert(performer)
    }
    for town in ["Rome", "Oslo"] {
      let publisher = Publisher()
      publisher.town = town
      store.insert(publisher)
    }
    let jotting = Jotting()
    store.insert(jotting)
    try store.saveChanges()
  }

  // MARK: Steps

  private mutating func chance(_ number: Int) -> Int { Int.random(in: 0..<number, using: &random) }

  private mutating func any<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[chance(elements.count)]
  }

  /// Lets one store do something, and compares its results.
  private mutating func step() throws {
    try Self.$seed.withValue(seed) { try makeStep() }
  }

  private mutating func makeStep() throws {
    let number = chance(sides.count)
    let store = sides[number].store
    if chance(3) == 0 { sides[number].mirrors.forEach { $0.watch() } }
    switch chance(24) {
    case 0..<12: for _ in 0...chance(4) { try edit(store) }
    case 12:
      store.discardChanges()
      sides[number].isBehind = false
    case 13: try? store.undoManager?.undo()
    case 14: try? store.undoManager?.redo()
    case 15: merge(number)
    case 16: if let object = any(try store.allObjects(of: Jotting.self)) { store.refresh(object) }
    case 17: if chance(6) == 0 { store.dissolveAllRelationships() }
    default: try save(number)
    }
    let isUnread = store.fetchFailures.isEmpty
    for mirror in sides[number].mirrors { try mirror.check(isComplete: false) }
    if isUnread, !store.fetchFailures.isEmpty { Issue.record("results cause no failures") }
    try check(number)
  }

  private mutating func merge(_ number: Int) {
    sides[number].store.mergeChanges()
    sides[number].isBehind = false
  }

  /// A save of relationships may meet objects that another store has deleted.
  private static let expectedCodes: [StoreError.Code] = [
    .conflict, .notEncodable, .contentUnavailable,
  ]

  private mutating func save(_ number: Int) throws {
    let store = sides[number].store
    if chance(2) == 0 { merge(number) }
    let hasChanges = store.hasUnsavedChanges
    do {
      try store.saveChanges()
    } catch {
      guard Self.expectedCodes.contains(error.code) else { throw error }
      if chance(2) == 0 || error.code != .conflict {
        store.discardChanges()
        sides[number].isBehind = false
        return
      }
      store.keepConflictingChanges()
      sides[number].isBehind = false
      do {
        try store.saveChanges()
      } catch {
        guard Self.expectedCodes.contains(error.code) else { throw error }
        store.discardChanges()
        return
      }
    }
    saves += 1
    if !hasChanges { return }
    for other in sides.indices where other != number { sides[other].isBehind = true }
  }

  private func check(_ number: Int) throws {
    let side = sides[number]
    for mirror in side.mirrors { try mirror.check(isComplete: !side.isBehind) }
    // Fetching again may have met a performer that another store has deleted.
    side.store.acknowledgeFetchFailures()
  }

  /// Merges all stores, and compares their results.
  private mutating func finish() throws {
    try Self.$seed.withValue(seed) { try checkAll() }
  }

  private mutating func checkAll() throws {
    for number in sides.indices {
      merge(number)
      try check(number)
      sides[number].store.discardChanges()
      try check(number)
    }
  }

  // MARK: Edits

  private static let titles = ["", "a", "b", "c", "d", "e", "ä", "aa", "ab", "ba"]

  private mutating func edit(_ store: Store) throws {
    switch chance(16) {
    case 0, 1: store.insert(jotting())
    case 2..<6:
      guard let object = any(try store.allObjects(of: Jotting.self)) else { return }
      change(object)
    case 6: if let object = any(try store.allObjects(of: Jotting.self)) { store.delete(object) }
    case 7, 8: try insertPiece(store)
    case 9..<12: try changePiece(store)
    case 12:
      let pieces = try store.allObjects(of: Piece.self, includingSubclasses: true)
      if let object = any(pieces) { store.delete(object) }
    case 13: try changePerformer(store)
    case 14:
      let publisher = any(try store.allObjects(of: Publisher.self))
      publisher?.town = Self.titles[chance(Self.titles.count)]
    default:
      let performer = any(try store.allObjects(of: Performer.self))
      performer?.name = Self.titles[chance(Self.titles.count)]
    }
  }

  private mutating func jotting() -> Jotting {
    let object = Jotting()
    change(object)
    return object
  }

  private mutating func change(_ object: Jotting) {
    switch chance(4) {
    case 0: object.title = Self.titles[chance(Self.titles.count)]
    case 1: object.rating = chance(6)
    case 2: object.genre = ["", "x", "y", "z"][chance(4)]
    default:
      object.title += "\(chance(3))"
      object.rating += 1
    }
  }

  private mutating func insertPiece(_ store: Store) throws {
    let piece = chance(3) == 0 ? LivePiece() : Piece()
    piece.title = Self.titles[chance(Self.titles.count)]
    if chance(2) == 0 { store.insert(piece) }
    piece.performer = any(try store.allObjects(of: Performer.self))
    piece.publisher = any(try store.allObjects(of: Publisher.self))
    store.insert(piece)
  }

  private mutating func changePiece(_ store: Store) throws {
    let pieces = try store.allObjects(of: Piece.self, includingSubclasses: true)
    guard let piece = any(pieces) else { return }
    switch chance(3) {
    case 0: piece.title = Self.titles[chance(Self.titles.count)]
    case 1:
      let performer = any(try store.allObjects(of: Performer.self))
      piece.performer = chance(4) == 0 ? nil : performer
    default: piece.publisher = any(try store.allObjects(of: Publisher.self))
    }
  }

  private mutating func changePerformer(_ store: Store) throws {
    let performers = try store.allObjects(of: Performer.self)
    guard let performer = any(performers) else { return }
    switch chance(3) {
    case 0:
      let new = Performer()
      new.name = Self.titles[chance(Self.titles.count)]
      store.insert(new)
    case 1: if performers.count > 2 { store.delete(performer) }
    default:
      let pieces = try store.allObjects(of: Piece.self)
      performer.pieces = ObjectList(pieces.prefix(chance(4)))
    }
  }
}

// MARK: - What is looked for

extension LiveRun {
  private static func mirrors(_ store: Store) throws -> [any LiveMirror] {
    try jottings(store) + pieces(store) + others(store)
  }

  private static func mirror<Object: StoredObject>(
    _ name: String, _ store: Store, _ type: Object.Type, subclasses: Bool = false,
    _ predicate: Predicate<Object>? = nil, _ orders: [QueryOrder<Object>] = []
  ) throws -> any LiveMirror {
    ResultsMirror(
      name,
      try store.results(
        type, includingSubclasses: subclasses, where: predicate, sortedBy: orders)
    ) {
      try store.fetch(type, includingSubclasses: subclasses, where: predicate, sortedBy: orders)
    }
  }

  private static func sections<Object: StoredObject>(
    _ name: String, _ store: Store, _ type: Object.Type, _ property: KeyPath<Object, String>,
    descending: Bool, _ orders: [QueryOrder<Object>] = []
  ) throws -> any LiveMirror {
    let results = try store.results(
      type, sortedBy: orders, sections: property, descending: descending)
    let first: QueryOrder<Object> = descending ? .descending(property) : .ascending(property)
    return ResultsMirror(name, results, by: property) {
      try store.fetch(type, sortedBy: [first] + orders)
    }
  }

  private static func jottings(_ store: Store) throws -> [any LiveMirror] {
    [
      try mirror("all", store, Jotting.self),
      try mirror(
        "by index", store, Jotting.self, #Predicate { $0.rating > 2 }, [.ascending(\.title)]),
      try mirror(
        "by a look", store, Jotting.self, #Predicate { $0.title < "b" && $0.rating != 1 },
        [.descending(\.rating), .descending(\.title)]),
      try mirror(
        "descending", store, Jotting.self, nil, [.ascending(\.genre), .descending(\.title)]),
      try sections(
        "genres", store, Jotting.self, \.genre, descending: false, [.ascending(\.title)]),
      try sections("initials", store, Jotting.self, \.initial, descending: true),
    ]
  }

  private static func pieces(_ store: Store) throws -> [any LiveMirror] {
    [
      try mirror(
        "performers' names", store, Piece.self, #Predicate { $0.performerName > "a" },
        [.ascending(\.performerName), .descending(\.title)]),
      try mirror(
        "towns", store, Piece.self, subclasses: true, #Predicate { $0.publisher?.town != "b" },
        [.descending(\.town)]),
      try mirror("with subclasses", store, Piece.self, subclasses: true),
      try sections(
        "by performer", store, Piece.self, \.performerName, descending: false,
        [.ascending(\.title)]),
    ]
  }

  private static func others(_ store: Store) throws -> [any LiveMirror] {
    let wanted = #Predicate<Jotting> { $0.rating > 4 }
    let named = #Predicate<Piece> { $0.performerName == "a" }
    return [
      try mirror(
        "lengths of lists", store, Performer.self, #Predicate { $0.pieceCount != 1 },
        [.descending(\.pieceCount), .ascending(\.name)]),
      CountMirror(try store.liveCount(of: Jotting.self, where: wanted)) {
        try store.count(of: Jotting.self, where: wanted)
      },
      CountMirror(try store.liveCount(of: Jotting.self)) { try store.count(of: Jotting.self) },
      CountMirror(try store.liveCount(of: Piece.self)) { try store.count(of: Piece.self) },
      CountMirror(try store.liveCount(of: Piece.self, where: named)) {
        try store.count(of: Piece.self, where: named)
      },
      try ObjectMirror(store, ObjectID<Jotting>(rowID: 2)),
      try ObjectMirror(store, ObjectID<Jotting>(rowID: 5)),
    ]
  }
}
