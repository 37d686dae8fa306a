#if Macros
  import Foundation
  import StoredObjects
  import StoredObjectsTestSupport
  import SwiftDiagnostics
  import Testing

  @testable import StoredSyntax

  private let reason = """
    by hand: the compiler would encode the storage of the properties, which may not have been read \
    yet
    """

  let codings: [Refusal] = [
    Refusal(
      "a coding that the compiler would write",
      "@Stored final class Song: StoredObject, Codable {\n  var title: String = \"\"\n  var note: String?\n}",
      "write encode(to:) and init(from:) \(reason)",
      [
        (
          "Write encode(to:) and init(from:)",
          "private enum CodingKeys: CodingKey { case title, note }"
        )
      ]),
    Refusal(
      "an encoding that the compiler would write, with decoding by hand",
      """
      @Stored public final class Song: StoredObject, Identifiable, Swift.Codable {
        var title: String = ""
        public required convenience init(from decoder: any Decoder) throws { self.init() }
      }
      """,
      "write encode(to:) \(reason)",
      [("Write encode(to:)", "public func encode(to encoder: any Encoder) throws {")]),
    Refusal(
      "a decoding that the compiler would write",
      "@Stored final class Song: StoredObject, Decodable & Sendable {\n  var note: String?\n}",
      "write init(from:) \(reason)",
      [("Write init(from:)", "note = try container.decodeIfPresent(String.self, forKey: .note)")]),
  ]

  /// The code that the fix-it writes.
  @Stored private final class Exported: StoredObject, Codable {
    var title: String = ""
    var note: String?

    private enum CodingKeys: CodingKey { case title, note }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(title, forKey: .title)
      try container.encodeIfPresent(note, forKey: .note)
    }

    required convenience init(from decoder: any Decoder) throws {
      self.init()
      let container = try decoder.container(keyedBy: CodingKeys.self)
      title = try container.decode(String.self, forKey: .title)
      note = try container.decodeIfPresent(String.self, forKey: .note)
    }

    required init() { super.init() }
  }

  @Stored private final class Holder: StoredObject {
    var exported: Exported?
  }

  @Suite("Stored classes that are Codable")
  struct CodingTests {
    @Test("A class with handwritten coding is accepted")
    func right() throws {
      let source = """
        @Stored final class Song: StoredObject, Codable {
          var title: String = ""
          func encode(to encoder: any Encoder) throws {}
          required init(from decoder: any Decoder) throws {}
        }
        """
      #expect(try findings(in: source).map(\.message) == [])
    }

    @Test("A fault is read before it is encoded, by the names of its properties")
    func fault() throws {
      let disk = MemoryDisk()
      try Session.run(disk, Exported.self, Holder.self) { session in
        let (object, holder) = (Exported(), Holder())
        (object.title, object.note, holder.exported) = ("Sunny", "x", object)
        try session.save(object, holder)
      }
      try Session.run(disk, Exported.self, Holder.self) { session in
        let holder = try #require(try session.store.object(Holder.self, rowID: 2))
        let object = try #require(holder.exported)
        #expect(object.store === session.store && object.rowID == 2)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = try encoder.encode(object)
        #expect(String(decoding: json, as: UTF8.self) == #"{"note":"x","title":"Sunny"}"#)
        let copy = try JSONDecoder().decode(Exported.self, from: json)
        #expect(copy.title == "Sunny" && copy.note == "x")
      }
    }
  }
#endif
