import Foundation
import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

/// A class with texts that has subclasses.
private class Story: StoredObject {
  @Content var title = ""
  /// Those that it answers to.
  @Content var models: [Story] = []
  @Content var former: Story?

  convenience init(_ title: String) {
    self.init()
    self.title = title
  }

  override class var indexes: [AttributeIndex] {
    [AttributeIndex("models", toMany: \Story.models)]
  }

  override class var fullTextAttributes: [FullTextAttribute] {
    [FullTextAttribute("title", \Story.title)]
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    models = try buffer.readObjects(of: Story.self)
    former = try buffer.readObject(of: Story.self)
  }

  override func writeContent(to buffer: inout DataBuffer) throws {
    buffer.write(title)
    buffer.write(models)
    buffer.write(former)
  }
}

/// A story with a text of its own, which precedes that of its class.
private final class Poem: Story {
  @Content var verse = ""

  convenience init(_ title: String, verse: String) {
    self.init(title)
    self.verse = verse
  }

  override class var fullTextAttributes: [FullTextAttribute] {
    [FullTextAttribute("verse", \Poem.verse)] + super.fullTextAttributes
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    try super.readContent(from: &buffer)
    verse = try buffer.readString()
  }

  override func writeContent(to buffer: inout DataBuffer) throws {
    try super.writeContent(to: &buffer)
    buffer.write(verse)
  }
}

/// A story that isn't searched.
private final class Draft: Story {
  override class var fullTextAttributes: [FullTextAttribute] { [] }
}

@Suite("Searches and referrers that include subclasses")
struct SubclassSearchTests {
  private let store: Store

  init() throws {
    store = try actStore(MemoryDisk(), [Story.self, Poem.self, Draft.self])
  }

  private func fill() throws {
    store.insert(Story("The silver river"))
    store.insert(Story("A stone"))
    store.insert(Poem("Silver", verse: "a river, a river and a river"))
    store.insert(Poem("Copper", verse: "no silver"))
    store.insert(Draft("A river of drafts"))
    try store.saveChanges()
  }

  @Test("A search with subclasses finds the objects of all classes with texts")
  func searches() throws {
    try fill()
    store.insert(Poem("Unsaved river", verse: ""))
    #expect(try store.search(Story.self, "river").map(\.object.title) == ["The silver river"])
    let hits = try store.search(Story.self, includingSubclasses: true, "river")
    #expect(
      Set(hits.map(\.object.title)) == ["The silver river", "Silver", "Unsaved river"])
    #expect(hits.map(\.score) == hits.map(\.score).sorted(by: >))
    #expect(
      try store.searchCount(Story.self, includingSubclasses: true, TextQuery(parsing: "river"))
        == 3)
    #expect(
      try store.search(Story.self, includingSubclasses: true, "verse OR copper").map(\.object.title)
        == ["Copper"])
  }

  @Test("The snippet of a hit is from the texts of the object's own class")
  func snippets() throws {
    try fill()
    let hits = try store.search(Story.self, includingSubclasses: true, "\"no silver\"")
    let hit = try #require(hits.first)
    #expect(hits.count == 1 && hit.object is Poem)
    #expect(hit.snippet.attribute == "verse")
    #expect(hit.snippet.marked("*") == "*no silver*")
  }

  @Test("A name is looked up in each class, and a missing one is an error")
  func attributes() throws {
    try fill()
    let hits = try store.search(
      Story.self, includingSubclasses: true, "silver", in: ["title"])
    #expect(Set(hits.map(\.object.title)) == ["The silver river", "Silver"])
    #expect(hits.allSatisfy { $0.snippet.attribute == "title" })
    let error = #expect(throws: StoreError.self) {
      try store.search(Story.self, includingSubclasses: true, "silver", in: ["verse"])
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test("Pages of a search with subclasses match all its hits")
  func randomPages() throws {
    var random = Seeds.generator(for: "searches with subclasses")
    for number in 0..<60 {
      let words = Array(repeating: "river", count: Int.random(in: 0...3, using: &random))
      let text = (words + ["\(number % 4)"]).joined(separator: " ")
      store.insert(Bool.random(using: &random) ? Story(text) : Poem("", verse: text))
      if number == 40 { try store.saveChanges() }
    }
    let all = try store.search(Story.self, includingSubclasses: true, "river")
    let alone = try store.search(Story.self, "river").map(\.object)
    #expect(all.map(\.object).filter { !($0 is Poem) } == alone)
    for _ in 0..<20 {
      let offset = Int.random(in: 0..<50, using: &random)
      let limit = Int.random(in: 0..<50, using: &random)
      let page = try store.search(
        Story.self, includingSubclasses: true, "river", limit: limit, offset: offset)
      #expect(page.map(\.object) == all.dropFirst(offset).prefix(limit).map(\.object))
      #expect(page.map(\.score) == all.dropFirst(offset).prefix(limit).map(\.score))
    }
  }

  @Test("Referrers with subclasses are found in each class, by its own index or without one")
  func referrers() throws {
    try fill()
    let target = try #require(try store.object(Story.self, rowID: 2))
    let poem = try #require(try store.object(Poem.self, rowID: 2))
    poem.models = [target, target]
    poem.former = target
    try store.saveChanges()
    let draft = Draft("unsaved")
    draft.models = [poem, target]
    store.insert(draft)
    #expect(try store.referrers(of: target, through: \Story.models) == [])
    #expect(
      try store.referrers(of: target, through: \Story.models, includingSubclasses: true)
        == [poem, draft])
    #expect(
      try store.referrers(of: target, through: \Story.former, includingSubclasses: true) == [poem])
    #expect(
      try store.referrers(of: Story("elsewhere"), through: \Story.former, includingSubclasses: true)
        == [])
  }

  @Test("The IDs of a query are those of its objects, each of its own class")
  func identifiers() throws {
    try fill()
    store.insert(Poem("Silver unsaved", verse: ""))
    let predicate = #Predicate<Story> { $0.title.contains("ilver") }
    let orders: [QueryOrder<Story>] = [.descending(\.title)]
    for includes in [false, true] {
      let ids = try store.fetchObjectIDs(
        Story.self, includingSubclasses: includes, where: predicate, sortedBy: orders, limit: 2,
        offset: includes ? 1 : 0)
      let objects = try store.fetch(
        Story.self, includingSubclasses: includes, where: predicate, sortedBy: orders, limit: 2,
        offset: includes ? 1 : 0)
      #expect(ids == objects.map { ObjectID($0) })
      #expect(try ids.map { try store.object($0) } == objects)
    }
    #expect(
      try store.fetchObjectIDs(Story.self, includingSubclasses: true).map(\.className)
        == ["Story", "Story", "Poem", "Poem", "Poem", "Draft"])
  }

  @Test("An explanation has a plan for each class")
  func plans() throws {
    try fill()
    let plans = try store.explain(
      Story.self, includingSubclasses: true, where: #Predicate { $0.title == "Silver" })
    #expect(plans.map(\.touchedCount) == [2, 2, 1])
  }
}
