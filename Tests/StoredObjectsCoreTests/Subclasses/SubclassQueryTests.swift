import Foundation
import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

@Suite("Fetches that include subclasses")
struct SubclassQueryTests {
  let disk = MemoryDisk()
  let store: Store

  init() throws { store = try actStore(disk) }

  private func fill() throws {
    for number in 0..<4 {
      store.insert(Encore("e\(number)", number))
      store.insert(Act("a\(number)", number))
      store.insert(LiveAct("l\(number)", number))
    }
    try store.saveChanges()
  }

  @Test("A class means itself unless subclasses are requested")
  func exact() throws {
    try fill()
    #expect(try store.allObjects(of: Act.self).map(\.name) == ["a0", "a1", "a2", "a3"])
    #expect(try store.count(of: LiveAct.self) == 4)
    let all = try store.allObjects(of: Act.self, includingSubclasses: true)
    #expect(all.map { $0.name.prefix(1) }.joined() == "aaaalllleeee")
    #expect(all[4] is LiveAct && all[8] is Encore)
    #expect(try store.allObjects(of: Act.self, includingSubclasses: false).count == 4)
    #expect(try store.count(of: Act.self, includingSubclasses: true) == 12)
    #expect(try store.count(of: LiveAct.self, includingSubclasses: true) == 8)
    #expect(try store.count(of: Show.self, includingSubclasses: true) == 0)
  }

  @Test("A class that is not registered is an error unless a subclass is")
  func unregistered() throws {
    let store = try actStore(MemoryDisk(), [LiveAct.self, Bill.self])
    try store.save(LiveAct("l"))
    #expect(try store.allObjects(of: Act.self, includingSubclasses: true).map(\.name) == ["l"])
    #expect(try store.fetch(Act.self, includingSubclasses: true).map(\.name) == ["l"])
    let error = #expect(throws: StoreError.self) {
      try store.allObjects(of: Show.self, includingSubclasses: true)
    }
    #expect(error?.code == .notRegistered)
  }

  @Test("An enumeration visits each object once, also unsaved ones, and can be ended")
  func walks() throws {
    try fill()
    store.insert(Encore("new"))
    store.delete(try #require(try store.object(Act.self, rowID: 2)))
    var cursor = try store.cursor(over: Act.self, includingSubclasses: true)
    var names: [String] = []
    while let act = try cursor.next() { names.append(act.name) }
    #expect(names.count == 12 && Set(names).count == 12 && names.contains("new"))
    var seen = 0
    try store.enumerate(Act.self, includingSubclasses: true) { _, stop in
      seen += 1
      stop = seen == 6
    }
    #expect(seen == 6)
  }

  @Test("A predicate can test the class of an object, and of one that it refers to")
  func typeChecks() throws {
    try fill()
    let live = try #require(try store.object(LiveAct.self, rowID: 3))
    live.venue = "Hall"
    let show = Show()
    show.lead = live
    store.insert(show)
    let other = Show()
    other.lead = try store.object(Act.self, rowID: 2)
    try store.save(other)
    #expect(
      try store.fetch(Act.self, includingSubclasses: true, where: #Predicate { $0 is LiveAct })
        .count == 8)
    let halls = try store.fetch(
      Act.self, includingSubclasses: true,
      where: #Predicate { ($0 as? LiveAct).flatMap { $0.venue == "Hall" } ?? false })
    #expect(halls == [live])
    let shows = try store.fetch(Show.self, where: #Predicate { $0.lead is LiveAct })
    #expect(shows == [show])
  }

  @Test("Each class is queried by its own index")
  func indexes() throws {
    try fill()
    let predicate = #Predicate<Act> { $0.name == "l2" }
    for type in actClasses where type is Act.Type {
      let entry = try #require(store.registration(of: type))
      let plan = try store.query(predicate, of: entry).plan
      #expect(plan.indexes == ["name"] && plan.isAnsweredByIndex, "\(type)")
    }
    #expect(
      try store.fetch(Act.self, includingSubclasses: true, where: predicate).map(\.name) == ["l2"])
    #expect(try store.first(Act.self, includingSubclasses: true, where: predicate)?.name == "l2")
    #expect(try store.count(of: Act.self, includingSubclasses: true, where: predicate) == 1)
    #expect(try store.exists(Act.self, includingSubclasses: true, where: predicate))
    #expect(try store.delete(Act.self, includingSubclasses: true, where: predicate) == 1)
    #expect(try !store.exists(Act.self, includingSubclasses: true, where: predicate))
  }

  /// A query in an order of its own, and the same by hand.
  private struct Order {
    let name: String
    let orders: [QueryOrder<Act>]
    let isBefore: (Act, Act) -> Bool?
    let isReversed: Bool
  }

  private let orders = [
    Order(name: "none", orders: [], isBefore: { _, _ in nil }, isReversed: false),
    Order(
      name: "name", orders: [.ascending(\.name)],
      isBefore: { $0.name == $1.name ? nil : $0.name < $1.name }, isReversed: false),
    Order(
      name: "name down", orders: [.descending(\.name)],
      isBefore: { $0.name == $1.name ? nil : $0.name > $1.name }, isReversed: true),
    Order(
      name: "minutes", orders: [.ascending(\.minutes)],
      isBefore: { $0.minutes == $1.minutes ? nil : $0.minutes < $1.minutes }, isReversed: false),
    Order(
      name: "minutes, name down", orders: [.ascending(\.minutes), .descending(\.name)],
      isBefore: { left, right in
        if left.minutes != right.minutes { return left.minutes < right.minutes }
        return left.name == right.name ? nil : left.name > right.name
      }, isReversed: true),
  ]

  @Test("Pages in any order match all objects, sorted by hand")
  func randomPages() throws {
    var random = Seeds.generator(for: "queries with subclasses")
    for round in 0..<12 {
      try change(&random)
      if round % 2 == 0 { try store.saveChanges() }
      let all = try store.allObjects(of: Act.self, includingSubclasses: true)
      let bound = Int.random(in: 0..<6, using: &random)
      for order in orders {
        let sorted = all.filter { $0.minutes >= bound }.enumerated().sorted { left, right in
          if let isBefore = order.isBefore(left.element, right.element) { return isBefore }
          return order.isReversed ? left.offset > right.offset : left.offset < right.offset
        }.map(\.element)
        try compare(order, bound, sorted, &random)
      }
    }
  }

  private func change(_ random: inout SeededGenerator) throws {
    for _ in 0..<20 {
      let type = [Act.self, LiveAct.self, Encore.self].randomElement(using: &random) ?? Act.self
      let act = type.init()
      act.name = "n\(Int.random(in: 0..<5, using: &random))"
      act.minutes = Int.random(in: 0..<6, using: &random)
      store.insert(act)
    }
    for act in try store.allObjects(of: Act.self, includingSubclasses: true) {
      if Int.random(in: 0..<10, using: &random) == 0 { store.delete(act) }
      if Int.random(in: 0..<10, using: &random) == 0 { act.name = "changed" }
    }
  }

  private func compare(
    _ order: Order, _ bound: Int, _ sorted: [Act], _ random: inout SeededGenerator
  ) throws {
    let predicate = #Predicate<Act> { $0.minutes >= bound }
    let (limit, offset) = (
      Int.random(in: 0..<12, using: &random), Int.random(in: 0..<12, using: &random)
    )
    let page = try store.fetch(
      Act.self, includingSubclasses: true, where: predicate, sortedBy: order.orders,
      limit: limit, offset: offset)
    #expect(page == Array(sorted.dropFirst(offset).prefix(limit)), "\(order.name)")
    guard let index = sorted.indices.randomElement(using: &random) else { return }
    let rest = try store.fetch(
      Act.self, includingSubclasses: true, where: predicate, sortedBy: order.orders,
      after: sorted[index])
    #expect(rest == Array(sorted.dropFirst(index + 1)), "\(order.name) after \(index)")
  }
}
