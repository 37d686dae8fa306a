import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// Property lists, which `Codable` values were written as before, in Base64.
private enum Earlier {
  static let settings = """
    YnBsaXN0MDChAdQCAwQFBgsMD1V0aGVtZVZvcGVuZWRWcmVjZW50VmxpbWl0c9EHCFVsaWdodNEJClpicmlnaHRuZXNz\
    Iz/gAAAAAAAAM0HHZRMgQAAAog0OaQBGAPwAcgAgAEUAbABpAHMAZVDSEBESE1VsZWFzdFRtb3N0FAAAAAAAAAAAAAAA\
    AAAAAAAUAAAAAAAAAAD//////////wgKExkgJy4xNzpFTldabW5zeX6PAAAAAAAAAQEAAAAAAAAAFAAAAAAAAAAAAAAA\
    AAAAAKA=
    """
  static let odd = """
    YnBsaXN0MDChAdcCAwQFBgcICQoOERITFFR0ZXh0VGxpc3RRblFmU25lZ1FkUXVVJG51bGyjCwwNUWFVJG51bGxRYqIP\
    EBP//////////xACIj3MzM0T/////tX6DgBDAAH/ZmXlZyyKngAg2D3coQgKGR4jJScrLS81OTtBQ0ZPUVZfYwAAAAAA\
    AAEBAAAAAAAAABUAAAAAAAAAAAAAAAAAAABw
    """
  static let five = "YnBsaXN0MDChARAFCAoAAAAAAAABAQAAAAAAAAACAAAAAAAAAAAAAAAAAAAADA=="
  static let null =
    "YnBsaXN0MDChAVUkbnVsbAgKAAAAAAAAAQEAAAAAAAAAAgAAAAAAAAAAAAAAAAAAABA="

  static func bytes(_ text: String) -> [UInt8] { Array(Data(base64Encoded: text) ?? Data()) }
}

private final class Player: StoredObject {
  var settings = Settings(theme: .dark, recent: [], limits: [:])
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(codable: settings) }
  override func readContent(from buffer: inout DataBuffer) throws {
    settings = try buffer.readCodable()
  }
}

@Suite("Codable values of earlier versions")
struct EarlierCodableTests {
  private func read<Value: Codable>(
    _ list: String, as type: Value.Type = Value.self
  ) throws -> Value {
    var buffer = DataBuffer.holding { $0.write(Earlier.bytes(list)) }
    let value = try buffer.readCodable(type)
    #expect(buffer.remainingCount == 0)
    return value
  }

  private let settings = Settings(
    theme: .light(brightness: 0.5), opened: Date(timeIntervalSinceReferenceDate: 785_000_000.5),
    recent: ["Für Elise", ""], limits: ["most": .max, "least": 0])

  @Test("They read back")
  func values() throws {
    #expect(try read(Earlier.settings) == settings)
    #expect(try read(Earlier.five) == 5)
    #expect(try read(Earlier.null, as: Int?.self) == nil)
  }

  @Test("A text \"$null\", which was unreadable, is a text if nothing else is possible")
  func null() throws {
    struct Odd: Codable {
      var (text, u) = ("", "")
      var maybe: String?
      var list: [String?] = []
      var n: [Int8] = []
      var f: Float = 0
      var neg: Int64 = 0
      var d = Data()
    }
    let odd: Odd = try read(Earlier.odd)
    #expect(odd.text == "$null" && odd.maybe == nil && odd.list == ["a", nil, "b"])
    #expect(odd.n == [-1, 2] && odd.f == 0.1 && odd.neg == -5_000_000_000)
    #expect(odd.d == Data([0, 1, 255]) && odd.u == "日本語 💡")
    #expect(try read(Earlier.null, as: String.self) == "$null")
  }

  @Test("A store with such values opens, and saving an object writes the current format")
  func store() throws {
    let disk = MemoryDisk()
    func session<Result>(_ body: (Store, MemoryBackend) throws -> Result) throws -> Result {
      let backend = try MemoryBackend(disk: disk)
      defer { backend.close() }
      let store = Store(backend: backend, configuration: .init(checksumsRecords: false))
      try store.register(Player.self)
      return try body(store, backend)
    }
    try session { store, backend in
      store.insert(Player())
      try store.saveChanges()
      let record = DataBuffer.holding {
        $0.write(UInt8(0))
        $0.write(Earlier.bytes(Earlier.settings))
      }
      let table = try backend.table(named: Player.storedName)
      try backend.commit { changes in changes.update(2, in: table, record.bytes) }
    }
    try session { store, _ in
      let player = try #require(try store.object(Player.self, rowID: 2))
      #expect(try player.contentIfReadable() == settings)
      store.willUpdate(player)
      player.settings.recent.append("$null")
      try store.saveChanges()
    }
    try session { store, backend in
      let player = try #require(try store.object(Player.self, rowID: 2))
      #expect(try player.contentIfReadable().recent == ["Für Elise", "", "$null"])
      let table = try backend.table(named: Player.storedName)
      #expect(try backend.record(2, in: table)?.starts(with: [0, 0x60]) == false)
    }
  }

  @Test("A random value in a property list is read as Foundation reads it")
  func random() throws {
    var generator = Seeds.generator(for: "Codable values in property lists")
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    for _ in 0..<1000 {
      let shape = Shape.random(4, withNaN: false, using: &generator)
      let list = try encoder.encode([shape])
      guard let expected = try? PropertyListDecoder().decode([Shape].self, from: list) else {
        continue
      }
      // Texts "$null" differ from nil now, and Foundation's encoder traps if a value has two NaN.
      if shape.exact.contains("\(Array("$null".utf8))") { continue }
      var buffer = DataBuffer.holding { $0.write(list) }
      #expect(try buffer.readCodable(Shape.self).exact == expected[0].exact)
    }
  }
}

extension Player {
  fileprivate func contentIfReadable() throws -> Settings {
    try fetchContent()
    return settings
  }
}
