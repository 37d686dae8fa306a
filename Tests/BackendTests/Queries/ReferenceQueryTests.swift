import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

private class Person: StoredObject {
  @Content var name = ""
  /// How many objects have been read.
  @TaskLocal static var reads = Reads()
  override class var storedName: String { "Person" }
  override class var indexes: [AttributeIndex] { [AttributeIndex("name", \Person.name)] }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(name) }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    Self.reads.count += 1
  }
}

/// Counts on one thread.
private final class Reads: @unchecked Sendable { var count = 0 }

private final class Singer: Person { override class var storedName: String { "Singer" } }

private final class Album: StoredObject {
  @Content var artist: Person?
  @Content var guest: Person?
  @Content var original: Album?
  @Content var title = ""
  @Content var bonus: [Person] = []
  override class var indexes: [AttributeIndex] {
    [
      AttributeIndex("artist", \Album.artist), AttributeIndex("original", \Album.original),
      AttributeIndex("bonus", toMany: \Album.bonus),
    ]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(artist)
    buffer.write(guest)
    buffer.write(original)
    buffer.write(title)
    buffer.write(bonus)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    artist = try buffer.readObject(of: Person.self)
    guest = try buffer.readObject(of: Person.self)
    original = try buffer.readObject(of: Album.self)
    title = try buffer.readString()
    bonus = try buffer.readObjects(of: Person.self)
  }
}

@Suite("References in predicates") struct ReferenceQueryTests {
  private let backend: MemoryBackend
  private let store: Store
  private let people: [Person]
  private let albums: [Album]

  /// Makes 600 albums by 300 people; every third person is a singer.
  init() throws {
    backend = try MemoryBackend()
    store = Store(backend: backend)
    try store.register(Person.self, Singer.self, Album.self)
    people = (0..<300).map { $0 % 3 == 0 ? Singer() : Person() }
    for (number, person) in people.enumerated() {
      person.name = "P\(number)"
      store.insert(person)
    }
    albums = (0..<600).map { _ in Album() }
    for (number, album) in albums.enumerated() {
      album.artist = number % 10 == 9 ? nil : people[number % 300]
      album.guest = number % 10 == 0 ? nil : people[(number + 1) % 300]
      album.bonus = [people[number % 300], people[(number + 7) % 300], people[number % 300]]
      album.title = "A\(number)"
      store.insert(album)
    }
    try store.saveChanges()
  }

  /// A store on the same data, in which nothing has been read.
  private func reopened() throws -> Store {
    let other = Store(backend: backend)
    try other.register(Person.self, Singer.self, Album.self)
    return other
  }

  @Test("A reference is compared with an object by the index, or by row without reading the object")
  func equal() throws {
    let artist = people[3]
    let byIndex = #Predicate<Album> { $0.artist == artist }
    let plan = try store.explain(Album.self, where: byIndex)
    #expect(plan.indexes == ["artist"] && plan.touchedCount == 2 && plan.isAnsweredByIndex)
    #expect(plan.condition == "artist == Singer/\(artist.rowID)", "\(plan)")
    #expect(try store.fetch(Album.self, where: byIndex) == [albums[3], albums[303]])
    #expect(try store.count(of: Album.self, where: #Predicate { $0.artist != artist }) == 598)
    let without = #Predicate<Album> { $0.artist == nil }
    #expect(try store.count(of: Album.self, where: without) == 60)

    let byLook = #Predicate<Album> { $0.guest == artist && $0.title != "" }
    #expect(try store.explain(Album.self, where: byLook).indexes == [])
    #expect(try store.fetch(Album.self, where: byLook) == [albums[2], albums[302]])
    let none: Person? = nil
    #expect(try store.count(of: Album.self, where: #Predicate { $0.guest == none }) == 60)
  }

  @Test("An object that is only compared is not read")
  func nothingRead() throws {
    let other = try reopened()
    let artist = people[4]
    let reads = Reads()
    try Person.$reads.withValue(reads) {
      let found = try other.fetch(Album.self, where: #Predicate { $0.guest == artist })
      #expect(found.map(\.title) == ["A3", "A303"])
      let excluded = #Predicate<Album> { $0.guest != artist }
      #expect(try other.count(of: Album.self, where: excluded) == 598)
    }
    #expect(reads.count == 0)
  }

  @Test("The predicate can be evaluated without a store, sent, and used with another store")
  func evaluated() throws {
    let artist = people[5]
    let predicate = #Predicate<Album> { $0.artist == artist }
    #expect(try predicate.evaluate(albums[5]) && !predicate.evaluate(albums[6]))
    let sent: any Sendable = predicate
    let same = try #require(sent as? Predicate<Album>)
    let other = try reopened()
    #expect(try other.fetch(Album.self, where: same).map(\.title) == ["A5", "A305"])
    let several = [people[1], people[2], nil]
    let among = #Predicate<Album> { several.contains($0.artist) }
    #expect(try other.count(of: Album.self, where: among) == 64)
    #expect(try albums.count { try among.evaluate($0) } == 64)
    let contains = #Predicate<Album> { $0.bonus.contains(artist) }
    #expect(try albums.count { try contains.evaluate($0) } == 4)
    #expect(try other.count(of: Album.self, where: contains) == 4)
  }

  @Test("An object in no store is found if an unsaved object refers to it")
  func detached() throws {
    let new = Person()
    let predicate = #Predicate<Album> { $0.artist == new }
    #expect(try store.fetch(Album.self, where: predicate) == [])
    albums[0].artist = new
    #expect(try store.fetch(Album.self, where: predicate) == [albums[0]])
    store.insert(new)
    #expect(try store.fetch(Album.self, where: #Predicate { $0.artist == new }) == [albums[0]])
    try store.saveChanges()
    #expect(try store.count(of: Album.self, where: #Predicate { $0.artist == new }) == 1)
  }

  @Test("An ID is compared with that of a reference by the index")
  func ids() throws {
    let id = people[8].id
    let predicate = #Predicate<Album> { $0.artist?.id == id }
    let plan = try store.explain(Album.self, where: predicate)
    #expect(plan.indexes == ["artist"] && plan.isAnsweredByIndex, "\(plan)")
    #expect(try store.fetch(Album.self, where: predicate) == [albums[8], albums[308]])
    let ids: [ObjectID<Person>?] = [people[8].id, people[10].id, nil]
    let among = #Predicate<Album> { ids.contains($0.artist.flatMap { $0.id }) }
    #expect(try store.explain(Album.self, where: among).isAnsweredByIndex)
    #expect(try store.count(of: Album.self, where: among) == 64)
  }

  @Test("A condition on a referenced object uses two indexes, with unsaved changes and subclasses")
  func through() throws {
    let predicate = #Predicate<Album> { $0.artist?.name == "P12" }
    let plan = try store.explain(Album.self, where: predicate)
    #expect(plan.indexes == ["artist"] && plan.touchedCount == 2, "\(plan)")
    #expect(try store.fetch(Album.self, where: predicate) == [albums[12], albums[312]])
    people[13].name = "P12"
    people[12].name = "other"
    #expect(try store.fetch(Album.self, where: predicate) == [albums[13], albums[313]])
    #expect(try store.count(of: Album.self, where: predicate) == 2)
    let starting = #Predicate<Album> { $0.artist.flatMap { $0.name.starts(with: "P1") } == true }
    #expect(
      try store.fetch(Album.self, where: starting)
        == albums.filter { $0.artist?.name.starts(with: "P1") == true })
    let negated = #Predicate<Album> { $0.artist?.name != "P12" }
    #expect(try store.count(of: Album.self, where: negated) == 598)
    try store.saveChanges()
    #expect(try store.count(of: Album.self, where: predicate) == 2)
  }

  @Test("A condition through two references uses three indexes")
  func throughTwo() throws {
    for (number, album) in albums.enumerated() where number > 300 {
      album.original = albums[number - 300]
    }
    try store.saveChanges()
    let predicate = #Predicate<Album> { $0.original?.artist?.name == "P12" }
    let plan = try store.explain(Album.self, where: predicate)
    #expect(plan.indexes == ["original"] && plan.touchedCount == 1, "\(plan)")
    #expect(try store.fetch(Album.self, where: predicate) == [albums[312]])
    let artist = people[13]
    let same = #Predicate<Album> { $0.original?.artist == artist }
    #expect(try store.explain(Album.self, where: same).indexes == ["original"])
    #expect(try store.fetch(Album.self, where: same) == [albums[313]])
  }

  @Test("If too many objects match behind a reference, each object is tested")
  func manyBehind() throws {
    let predicate = #Predicate<Album> { $0.artist?.name != nil }
    #expect(try store.explain(Album.self, where: predicate).indexes == [])
    #expect(try store.count(of: Album.self, where: predicate) == 540)
  }

  @Test("A list is searched for an object, or for one that matches a condition, by its index")
  func lists() throws {
    let person = people[20]
    let contains = #Predicate<Album> { $0.bonus.contains(person) }
    let plan = try store.explain(Album.self, where: contains)
    #expect(plan.indexes == ["bonus"] && plan.isAnsweredByIndex && plan.touchedCount == 4)
    let expected = albums.filter { $0.bonus.contains(person) }
    #expect(expected.count == 4)
    #expect(try store.fetch(Album.self, where: contains) == expected)
    #expect(try store.count(of: Album.self, where: contains) == 4)

    let any = #Predicate<Album> { $0.bonus.contains { $0.name == "P20" } }
    #expect(try store.explain(Album.self, where: any).indexes == ["bonus"])
    #expect(try store.fetch(Album.self, where: any) == expected)
    // Both are found by several keys of the same objects.
    let two = #Predicate<Album> { $0.bonus.contains { $0.name == "P20" || $0.name == "P27" } }
    #expect(
      try store.fetch(Album.self, where: two)
        == albums.filter { $0.bonus.contains { ["P20", "P27"].contains($0.name) } })
    let both = #Predicate<Album> { album in
      album.bonus.contains { $0.name == "P20" } && album.bonus.contains { $0.name == "P27" }
    }
    #expect(try store.fetch(Album.self, where: both) == [albums[20], albums[320]])
    let not = #Predicate<Album> { !$0.bonus.contains(person) }
    #expect(try store.count(of: Album.self, where: not) == 596)
    let all = #Predicate<Album> { $0.bonus.allSatisfy { $0.name.starts(with: "P2") } }
    #expect(
      try store.fetch(Album.self, where: all)
        == albums.filter { $0.bonus.allSatisfy { $0.name.starts(with: "P2") } })
  }

  @Test("A closure that captures a variable matches the same objects")
  func outerVariables() throws {
    albums[7].title = people[7].name
    let predicate = #Predicate<Album> { album in
      album.bonus.contains { $0.name == album.title }
    }
    #expect(try store.fetch(Album.self, where: predicate) == [albums[7]])
    let filtered = #Predicate<Album> { $0.bonus.filter { $0.name == "P30" }.count > 1 }
    #expect(try store.fetch(Album.self, where: filtered) == [albums[30], albums[330]])
  }

  @Test("Objects of an unregistered class have no referrers")
  func otherClass() throws {
    let other = Store(backend: try MemoryBackend())
    try other.register(Person.self, Album.self)
    let album = Album()
    other.insert(album)
    try other.saveChanges()
    let singer = people[0]
    #expect(try other.count(of: Album.self, where: #Predicate { $0.artist == singer }) == 0)
    #expect(try other.count(of: Album.self, where: #Predicate { $0.artist != singer }) == 1)
  }
}
