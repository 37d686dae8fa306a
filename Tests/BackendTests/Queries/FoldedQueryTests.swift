import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

private final class Name: StoredObject {
  @Content var text = ""
  @Content var note: String?
  @Content var other = ""

  override class var indexes: [AttributeIndex] {
    [
      AttributeIndex("folded text", \Name.text.folded),
      AttributeIndex("folded note", \Name.note.folded),
    ]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(text)
    buffer.write(note != nil)
    buffer.write(note ?? "")
    buffer.write(other)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
    let hasNote = try buffer.readBool()
    let note = try buffer.readString()
    self.note = hasNote ? note : nil
    other = try buffer.readString()
  }
}

@Suite("Texts without case and accents") struct FoldedQueryTests {
  private static let texts = [
    "Beyoncé", "BEYONCE\u{301}", "beyonce", "Straße", "STRASSE", "Ångström", "angstrom", "Éa", "eb",
    "Zoë!", "ＺＯＥ?", "", "中文", "a b", "Ab", "æ", "AE", "b\u{0}",
  ]

  private func filled() throws -> (Store, [Name]) {
    let store = Store(backend: try MemoryBackend())
    try store.register(Name.self)
    let names = Self.texts.enumerated().map { number, text in
      let name = Name()
      name.text = text
      name.note = number % 3 == 0 ? nil : text
      name.other = text
      store.insert(name)
      return name
    }
    // More of them, so that an index is worth it.
    for number in 0..<300 {
      let name = Name()
      name.text = "x\(number)"
      store.insert(name)
    }
    try store.saveChanges()
    return (store, names)
  }

  @Test("Folding drops case, accents and width, and nothing else")
  func folding() {
    #expect("Beyoncé".folded == "beyonce" && "BEYONCE\u{301}".folded.text == "beyonce")
    #expect("Straße".folded == "STRASSE" && "ＺＯＥ?".folded.text == "zoe?")
    #expect("Hello, World! 1".folded.text == "hello, world! 1")
    #expect("Zoë!".folded != "Zoe" && "a b".folded != "ab")
    #expect("é".folded < "F".folded && !("F".folded < "é".folded))
    #expect("Les Éléphants".folded.contains("eleph") && !"Zoë".folded.contains("zoo"))
    #expect("any".folded.contains("") && !"".folded.contains("a"))
    for text in Self.texts { #expect(text.folded.text.folded == text.folded) }
  }

  @Test("Folded texts are compared, searched and sorted by an index")
  func byIndex() throws {
    let (store, names) = try filled()
    let all = try store.allObjects(of: Name.self)
    for wanted in Self.texts {
      let equal = #Predicate<Name> { $0.text.folded == wanted.folded }
      #expect(try store.explain(Name.self, where: equal).indexes == ["folded text"])
      #expect(try store.explain(Name.self, where: equal).isAnsweredByIndex)
      let expected = names.filter { $0.text.folded == wanted.folded }
      #expect(try store.fetch(Name.self, where: equal) == expected, "\(wanted)")
      let starting = #Predicate<Name> { $0.text.folded.starts(with: wanted.folded) }
      #expect(
        try store.fetch(Name.self, where: starting)
          == all.filter { $0.text.folded.starts(with: wanted.folded) }, "\(wanted)")
      let folded = wanted.folded
      let notes = #Predicate<Name> { $0.note.folded == folded }
      #expect(
        try store.fetch(Name.self, where: notes)
          == names.filter { $0.note.folded == wanted.folded }, "\(wanted)")
      let after = #Predicate<Name> { $0.text.folded > wanted.folded }
      #expect(
        try store.count(of: Name.self, where: after)
          == all.count { $0.text.folded > wanted.folded }, "\(wanted)")
    }
    let literal = #Predicate<Name> { $0.text.folded == "BEYONCÉ" }
    #expect(try store.fetch(Name.self, where: literal) == Array(names[0..<3]))
    let orders: [QueryOrder<Name>] = [.ascending(\.text.folded)]
    let plan = try store.explain(Name.self, sortedBy: orders, limit: 5)
    #expect(plan.indexes == ["folded text"] && plan.isOrderedByIndex)
    let sorted = try store.fetch(Name.self, sortedBy: orders)
    #expect(
      sorted
        == all.sorted {
          $0.text.folded == $1.text.folded
            ? $0.rowID < $1.rowID : $0.text.folded < $1.text.folded
        })
    let groups = try store.groups(of: Name.self, by: \.note.folded)
    #expect(groups.first { $0.value == "strasse" }?.count == 1)
  }

  @Test("localizedStandardContains finds a part of a text in any case and with any accents")
  func contains() throws {
    let (store, names) = try filled()
    let predicate = #Predicate<Name> { $0.other.localizedStandardContains("ÉYON") }
    #expect(try store.fetch(Name.self, where: predicate) == Array(names[0..<3]))
    #expect(try predicate.evaluate(names[1]) && !predicate.evaluate(names[3]))
    let folded = #Predicate<Name> { $0.other.folded.contains("stras") }
    #expect(try store.fetch(Name.self, where: folded) == [names[3], names[4]])
  }
}
