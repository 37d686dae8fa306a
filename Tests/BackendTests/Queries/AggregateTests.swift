import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

/// A class whose indexes have all that is asked for, and some that is not.
private final class Sale: StoredObject {
  @Content var shop = ""
  @Content var amount: Int32 = 0
  @Content var rate = 0.0
  @Content var bonus: Int16?
  @Content var mood = Mood.calm
  @Content var track: Track?
  @Content var note = ""

  /// How many objects have been made from records.
  @TaskLocal static var reads = Reads()

  override class var indexes: [AttributeIndex] {
    [
      AttributeIndex("shop, amount", \Sale.shop, \Sale.amount),
      AttributeIndex("rate", \Sale.rate), AttributeIndex("mood", \Sale.mood),
      AttributeIndex("track, bonus", \Sale.track, \Sale.bonus),
    ]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(shop)
    buffer.write(amount)
    buffer.write(rate)
    buffer.write(bonus.map { Int32($0) } ?? .max)
    buffer.write(mood.rawValue)
    buffer.write(track)
    buffer.write(note)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    Self.reads.count += 1
    shop = try buffer.readString()
    amount = try buffer.readInt32()
    rate = try buffer.readDouble()
    let number = try buffer.readInt32()
    bonus = number == .max ? nil : Int16(number)
    mood = Mood(rawValue: try buffer.readInt32()) ?? .calm
    track = try buffer.readObject(of: Track.self)
    note = try buffer.readString()
  }

  func fill(_ generator: inout SeededGenerator, _ tracks: [Track]) {
    shop = ["", "A", "B", "Bé", "a\u{0}b"].randomElement(using: &generator) ?? ""
    amount = [0, -5, 7, 100_000, .min].randomElement(using: &generator) ?? 0
    rate = [0, -0.0, 1.5, -2, .infinity, .nan].randomElement(using: &generator) ?? 0
    bonus = [nil, 0, 3, -9].randomElement(using: &generator) ?? nil
    mood = [.calm, .merry, .sad].randomElement(using: &generator) ?? .calm
    track = Bool.random(using: &generator) ? tracks.randomElement(using: &generator) : nil
    note = ["x", "y"].randomElement(using: &generator) ?? ""
  }
}

/// Counts on one thread.
private final class Reads: @unchecked Sendable { var count = 0 }

@Suite("Aggregates") struct AggregateTests {
  private typealias Asked = (predicate: Predicate<Sale>?, holds: (Sale) -> Bool)

  private var predicates: [Asked] {
    [
      (nil, { _ in true }), (#Predicate { $0.shop == "B" }, { $0.shop == "B" }),
      (#Predicate { $0.shop > "A" && $0.amount > 0 }, { $0.shop > "A" && $0.amount > 0 }),
      (#Predicate { $0.rate >= 0 }, { $0.rate >= 0 }),
      (#Predicate { $0.track != nil }, { $0.track != nil }),
      (#Predicate { $0.note == "x" }, { $0.note == "x" }),
      (#Predicate { $0.shop == "nowhere" }, { _ in false }),
    ]
  }

  private func compare(_ store: Store, _ asked: Asked, _ what: String) throws {
    let (predicate, holds) = asked
    let found = try store.allObjects(of: Sale.self).filter(holds)
    let amounts = try store.numbers(of: \Sale.amount, where: predicate)
    #expect(amounts.count == found.count, "\(what)")
    #expect(amounts.sum == found.reduce(0) { $0 + Int($1.amount) }, "\(what)")
    #expect(amounts.minimum == found.map { Int($0.amount) }.min(), "\(what)")
    let average = found.isEmpty ? nil : Double(amounts.sum) / Double(found.count)
    #expect(try store.average(of: \Sale.amount, where: predicate) == average, "\(what)")
    let bonuses = found.compactMap(\.bonus)
    #expect(
      try store.sum(of: \Sale.bonus, where: predicate) == bonuses.reduce(0) { $0 + Int($1) },
      "\(what)")
    #expect(try store.maximum(of: \Sale.bonus, where: predicate) == bonuses.max(), "\(what)")
    #expect(try store.minimum(of: \Sale.bonus, where: predicate) == bonuses.min(), "\(what)")
    let rates = found.map(\.rate).filter { !$0.isNaN }
    #expect(try store.maximum(of: \Sale.rate, where: predicate) == rates.max(), "\(what)")
    #expect(try store.minimum(of: \Sale.rate, where: predicate) == rates.min(), "\(what)")
    #expect(
      try store.distinctValues(of: \Sale.shop, where: predicate) == Set(found.map(\.shop)).sorted(),
      "\(what)")
    let moods = try store.groups(of: Sale.self, by: \.mood, where: predicate)
    #expect(moods.map(\.value.rawValue) == Set(found.map(\.mood.rawValue)).sorted(), "\(what)")
    for group in moods {
      #expect(group.count == found.count { $0.mood == group.value }, "\(what)")
    }
    for group in try store.groups(of: Sale.self, by: \.shop, summing: \.amount, where: predicate) {
      let members = found.filter { $0.shop == group.value }
      #expect(group.count == members.count && !members.isEmpty, "\(what)")
      #expect(group.numbers.sum == members.reduce(0) { $0 + Int($1.amount) }, "\(what)")
      #expect(group.numbers.maximum == members.map { Int($0.amount) }.max(), "\(what)")
    }
    let tracks = try store.groups(of: Sale.self, by: \.track, summing: \.bonus, where: predicate)
    #expect(Set(tracks.map { $0.value?.rowID }) == Set(found.map { $0.track?.rowID }), "\(what)")
    for group in tracks {
      let members = found.filter { $0.track === group.value }
      #expect(group.count == members.count, "\(what)")
      #expect(group.numbers.count == members.count { $0.bonus != nil }, "\(what)")
    }
  }

  /// Saves, over what others have saved.
  private func save(_ store: Store) throws {
    do {
      try store.saveChanges()
    } catch {
      guard error.code == .conflict else { throw error }
      store.keepConflictingChanges()
      try store.saveChanges()
    }
  }

  @Test(
    "Aggregates cover all objects that match a query: saved, unsaved and unmerged",
    arguments: TestedBackend.usual)
  func model(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      var generator = Seeds.generator(for: "aggregates \(kind)")
      let store = try location.openStore(of: Sale.self, Track.self)
      let other = Store(backend: store.backend)
      try other.register(Sale.self, Track.self)
      let tracks = (0..<5).map { _ in Track() }
      for track in tracks { store.insert(track) }
      for step in 0..<6 {
        for _ in 0..<(step == 0 ? 150 : 5) {
          let sale = Sale()
          sale.fill(&generator, tracks)
          store.insert(sale)
        }
        if step > 1 {
          for sale in try store.allObjects(of: Sale.self).shuffled(using: &generator).prefix(6) {
            sale.fill(&generator, tracks)
          }
          let all = try store.allObjects(of: Sale.self)
          if let sale = all.randomElement(using: &generator) { store.delete(sale) }
        }
        for (number, asked) in predicates.enumerated() {
          try compare(store, asked, "\(kind), step \(step), predicate \(number)")
          try compare(other, asked, "\(kind), step \(step), predicate \(number), other store")
        }
        if step != 3 {
          try save(store)
        }
        if step == 4 {
          other.mergeChanges()
          let theirs = try other.allObjects(of: Sale.self)
          theirs.first?.amount += 1
          try other.saveChanges()
        }
      }
      try store.backend.close()
    }
  }

  @Test("No object is created if an index has all requested values")
  func noObjects() throws {
    let backend = try MemoryBackend()
    let filling = Store(backend: backend)
    try filling.register(Sale.self, Track.self)
    let track = Track()
    filling.insert(track)
    for number in 0..<3000 {
      let sale = Sale()
      sale.shop = "Shop \(number % 3)"
      sale.amount = Int32(number)
      sale.bonus = number % 2 == 0 ? nil : 1
      sale.track = number % 5 == 0 ? track : nil
      filling.insert(sale)
    }
    try filling.saveChanges()
    let store = Store(backend: backend)
    try store.register(Sale.self, Track.self)
    let reads = Reads()
    try Sale.$reads.withValue(reads) {
      #expect(try store.sum(of: \Sale.amount) == 4_498_500)
      let last = #Predicate<Sale> { $0.shop == "Shop 2" }
      #expect(try store.sum(of: \Sale.amount, where: last) == 1_500_500)
      #expect(try store.maximum(of: \Sale.amount, where: last) == 2999)
      #expect(try store.minimum(of: \Sale.shop) == "Shop 0")
      #expect(try store.distinctValues(of: \Sale.shop) == ["Shop 0", "Shop 1", "Shop 2"])
      let groups = try store.groups(of: Sale.self, by: \.shop)
      #expect(groups.map(\.count) == [1000, 1000, 1000])
      let amounts = try store.groups(of: Sale.self, by: \.amount)
      #expect(amounts.map(\.value) == (0..<3000).map { Int32($0) })
      let sums = try store.groups(of: Sale.self, by: \.track, summing: \.bonus)
      #expect(sums.map(\.value?.rowID) == [nil, track.rowID])
      #expect(sums.map(\.numbers.sum) == [1200, 300])
      #expect(try store.groups(of: Sale.self, by: \.mood).map(\.count) == [3000])
    }
    #expect(reads.count == 0)
  }

  @Test("A sum that is too large is an error")
  func overflow() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Large.self)
    for _ in 0..<2 {
      let large = Large()
      large.number = .max
      store.insert(large)
    }
    let error = #expect(throws: StoreError.self) { try store.sum(of: \Large.number) }
    #expect(error?.code == .notEvaluable)
    #expect(try store.maximum(of: \Large.number) == .max)
  }
}

private final class Large: StoredObject {
  @Content var number: Int64 = 0
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(number) }
  override func readContent(from buffer: inout DataBuffer) throws {
    number = try buffer.readInt64()
  }
}
