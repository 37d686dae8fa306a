import Foundation
import PostgreSQLBackend
import RecordBrowsing
import StoredObjectsBrowser
import StoredObjectsCore
import StoredObjectsEncryption
import Testing

private final class Tape: StoredObject {
  @Content var title = ""
  @Content var next: Tape?

  override class var layout: ClassLayout? {
    ClassLayout(
      Tape.self, [StoredProperty("title", String.self), StoredProperty("next", Tape?.self)])
  }
  override class var indexes: [AttributeIndex] { [AttributeIndex("title", \Tape.title)] }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(next)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    next = try buffer.readObject(of: Tape.self)
  }
}

@Suite("The page of a store on PostgreSQL", .needsServer)
struct BrowsingTests {
  private func store(_ backend: any StoreBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Tape.self)
    return store
  }

  private func ask(
    _ session: BrowserSession, _ path: String, _ query: [String: String] = [:], edit: String? = nil
  ) -> (status: Int, text: String) {
    let call = APICall(
      path: path, isPost: edit != nil, query: query, body: Array((edit ?? "").utf8))
    let response = session.respond(to: call)
    return (response.status, String(decoding: response.body, as: UTF8.self))
  }

  /// Opens the store once more, and checks it.
  private func expectTitle(_ title: String, of tape: Tape, _ database: TestDatabase) throws {
    let store = try store(try database.backend())
    #expect(try store.fetch(Tape.self, where: \.title, is: title).map(\.rowID) == [tape.rowID])
    #expect(try store.check().findings == [])
  }

  @Test(
    "It shows what other machines save, edits, refuses old versions, and undoes",
    arguments: TestDatabase.keys)
  func shownAndEdited(_ key: EncryptionKey?) throws {
    let database = try TestDatabase(key: key)
    let other = try store(try database.backend())
    let first = Tape()
    first.title = "Morning"
    other.insert(first)
    try other.saveChanges()
    let shown = try database.backend()
    let session = BrowserSession(
      LiveSource(shown), editor: StoreEditor(shown), options: .init(name: "Tapes", format: "test"))
    defer { session.close() }
    let id = "Tape/\(first.rowID)"
    #expect(ask(session, "store").text.contains(#""count":1"#))
    let object = ask(session, "object", ["id": id]).text
    #expect(object.contains("Morning"))
    let version = try #require(
      object.firstMatch(of: /"version":"([^"]*)"/)?.output.1.description)

    // Another machine saves, and the page follows without a reopening.
    first.title = "Evening"
    let second = Tape()
    second.title = "Afternoon"
    second.next = first
    other.insert(second)
    try other.saveChanges()
    let deadline = ContinuousClock.now + .seconds(10)
    while !ask(session, "object", ["id": id]).text.contains("Evening"), .now < deadline {}
    let rows = ask(session, "rows", ["class": "Tape", "sort": "title"]).text
    let titles = rows.matches(of: /Afternoon|Evening/).map { String($0.output) }
    #expect(titles.first == "Afternoon" && titles.contains("Evening"))
    #expect(ask(session, "referrers", ["id": id]).text.contains("Afternoon"))

    let old = ask(
      session, "edit",
      edit: #"""
        {"actions": [{"do": "set", "id": "\#(id)", "version": "\#(version)",
         "values": {"title": "Night"}}]}
        """#)
    #expect(old.status == 409 && old.text.contains("Evening"), "\(old.text)")
    let edit = ask(
      session, "edit",
      edit: #"{"actions": [{"do": "set", "id": "\#(id)", "values": {"title": "Night"}}]}"#)
    #expect(edit.status == 200, "\(edit.text)")
    try expectTitle("Night", of: first, database)
    #expect(ask(session, "undo", edit: "{}").status == 200)
    try expectTitle("Evening", of: first, database)
  }
}
