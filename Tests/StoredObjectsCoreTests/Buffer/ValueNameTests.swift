import FoundationEssentials
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("All types by one method")
struct ValueNameTests {
  @Test("A value has the bytes that write(_:) writes")
  func sameBytes() {
    func expect(
      _ one: (inout DataBuffer) -> Void, _ other: (inout DataBuffer) -> Void,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(
        DataBuffer.holding(one).hex == DataBuffer.holding(other).hex,
        sourceLocation: sourceLocation)
    }
    let settings = Settings(theme: .dark, opened: nil, recent: [], limits: [:])
    expect({ $0.writeValue("ü", as: String.self) }, { $0.write("ü") })
    expect({ $0.writeValue(5, as: UInt16.self) }, { $0.write(5 as UInt16) })
    expect({ $0.writeValue(["a": [1.5]], as: [String: [Double]].self) }, { $0.write(["a": [1.5]]) })
    expect({ $0.writeValue([1, 2], as: [UInt8].self) }, { $0.write([1, 2] as [UInt8]) })
    expect({ $0.writeValue(nil, as: Date?.self) }, { $0.write(nil as Date?) })
    expect({ $0.writeValue(Data([7]), as: Data.self) }, { $0.write(Data([7])) })
    expect({ $0.writeValue(settings, as: Settings.self) }, { $0.write(codable: settings) })
    expect({ $0.writeValue([settings], as: [Settings].self) }, { $0.write(codable: [settings]) })
    expect(
      { $0.writeValue(settings, as: Settings?.self) }, { $0.write(codable: settings as Settings?) })
  }

  @Test("A value reads back by its type")
  func reading() throws {
    let settings = Settings(theme: .dark, opened: nil, recent: ["x"], limits: [:])
    var buffer = DataBuffer.holding {
      $0.writeValue("ü", as: String.self)
      $0.writeValue([1, 2], as: Set<UInt32>.self)
      $0.writeValue(settings, as: Settings.self)
      $0.writeValue(nil, as: Settings?.self)
    }
    #expect(try buffer.readValue(of: String.self) == "ü")
    #expect(try buffer.readValue(of: Set<UInt32>.self) == [1, 2])
    #expect(try buffer.readValue(of: Settings.self) == settings)
    #expect(try buffer.readValue(of: Settings?.self) == nil)
    #expect(buffer.remainingCount == 0)
  }

  @Test("References are written by the type of the property, and sets in the order of their rows")
  func references() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b", "c")
    try store.setBuffer(named: "All") { buffer in
      buffer.writeValue(songs[1], as: Song?.self)
      buffer.writeValue([songs[0], songs[0]], as: [Song].self)
      buffer.writeValue(Set(songs), as: Set<Song>.self)
      buffer.writeValue(songs[2], as: StoredObject?.self)
      buffer.writeValue(songs, as: [StoredObject].self)
      buffer.writeValue(Set(songs), as: Set<StoredObject>.self)
    }
    var buffer = try #require(try store.buffer(named: "All"))
    #expect(
      buffer.hex.hasPrefix(
        """
        03 00 00 00 02 00 00 00 02 00 00 00 02 00 00 00 \
        03 00 00 00 02 00 00 00 03 00 00 00 04 00 00 00 00 04 00 00 00
        """))
    #expect(try buffer.readValue(of: Song?.self) === songs[1])
    #expect(try buffer.readValue(of: [Song].self) == [songs[0], songs[0]])
    #expect(try buffer.readValue(of: Set<Song>.self) == Set(songs))
    #expect(try buffer.readValue(of: StoredObject?.self) === songs[2])
    #expect(try buffer.readValue(of: [StoredObject].self) == songs)
    #expect(try buffer.readValue(of: Set<StoredObject>.self) == Set(songs as [StoredObject]))
  }

  @Test("A set with a repeated object is refused, with the position of the second one")
  func repeats() throws {
    let fixture = try Fixture()
    let (store, songs) = try fixture.store(songs: "a", "b")
    try store.setBuffer(named: "Set") { $0.write([songs[0], songs[1], songs[0]]) }
    var buffer = try #require(try store.buffer(named: "Set"))
    let error = #expect(throws: DataBufferError.self) {
      _ = try buffer.readValue(of: Set<Song>.self)
    }
    #expect(error?.code == .invalidValue && error?.offset == 12)
  }
}
