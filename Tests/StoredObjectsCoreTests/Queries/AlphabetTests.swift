import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

private final class Place: StoredObject {
  @Content var name = ""
  @Content var former: String?

  override class var indexes: [AttributeIndex] {
    [
      AttributeIndex("name in Swedish", \Place.name[.swedish]),
      AttributeIndex("former in Swedish", \Place.former[.swedish]),
    ]
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    let text = try buffer.readString()
    former = text.isEmpty ? nil : text
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(former ?? "")
  }
}

@Suite("Alphabets")
struct AlphabetTests {
  @Test(
    "Texts have the order of a language's alphabet",
    arguments: [
      (Alphabet.swedish, "Arvika aska Zorn Åre Ängelholm ängen Örebro"),
      (.danish, "Abe Zoo ærter Ærø Øst Åbo Aalborg"),
      (.spanish, "nada Nube nzz Ñandú ñu oca"),
      (.polish, "lód luk lza Łódź łuk mak zebra Źródło żaba"),
      (.czech, "cena cukr čaj hora hůl chata ibis žena"),
      (.turkish, "hız Irak ışık içki İzmir jale"),
      (Alphabet(), "Ähre Åre Örebro Zorn"),
    ])
  func orders(alphabet: Alphabet, text: String) {
    let words = text.split(separator: " ").map(String.init)
    let sorted = words.shuffled().sorted { $0[alphabet] < $1[alphabet] }
    #expect(sorted == words)
  }

  @Test("Case and other accents do not count, but the letters of the alphabet do")
  func equality() {
    #expect("ÉTÉ"[.swedish] == "ete"[.swedish])
    #expect("ÅRE"[.swedish] == "a\u{30A}re"[.swedish])
    #expect("åre"[.swedish] != "are"[.swedish])
    #expect("åre"[.spanish] == "are"[.spanish])
    #expect("CHATA"[.czech] == "Chata"[.czech])
    #expect(String?.none[.swedish] == nil)
  }

  @Test("An index sorts and pages texts in the order of its alphabet")
  func index() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Place.self)
    var generator = Seeds.generator(for: "alphabet")
    let letters = Array("aåäözAÅÄÖZeé")
    for _ in 0..<300 {
      let place = Place()
      place.name = String((0..<3).map { _ in letters.randomElement(using: &generator) ?? "a" })
      place.former = Bool.random(using: &generator) ? place.name : nil
      store.insert(place)
    }
    try store.saveChanges()
    let all = try store.allObjects(of: Place.self).sorted {
      ($0.name[.swedish], $0.rowID) < ($1.name[.swedish], $1.rowID)
    }
    let found = try store.fetch(Place.self, sortedBy: [.ascending(\.name[.swedish])], limit: 300)
    #expect(found.map(\.rowID) == all.map(\.rowID))
    let page = try store.fetch(
      Place.self, sortedBy: [.ascending(\.name[.swedish])], limit: 10, after: all[99])
    #expect(page.map(\.rowID) == all[100..<110].map(\.rowID))
    let plan = try store.explain(Place.self, sortedBy: [.ascending(\.name[.swedish])], limit: 10)
    #expect("\(plan)".contains("name in Swedish"))
    // Another alphabet has another order, which the index does not have.
    let other = try store.explain(Place.self, sortedBy: [.ascending(\.name[.danish])], limit: 10)
    #expect(!"\(other)".contains("name in Swedish"))
    #expect(
      try store.first(Place.self, where: \.name[.swedish], is: all[5].name.uppercased()[.swedish])?
        .name[.swedish] == all[5].name[.swedish])
    let former = try store.fetch(Place.self, sortedBy: [.descending(\.former[.swedish])], limit: 3)
    #expect(former.allSatisfy { $0.former != nil })
    #expect(try store.check().isSound)
  }
}
