import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

/// A class whose values have limits of their own.
private final class Album: StoredObject {
  @Content var cover = ExternalData()
  @Content var booklet: ExternalData?
  @Content var pages: [ExternalData] = []
  @Content var notes = ExternalData()

  override class var layout: ClassLayout? {
    ClassLayout(
      Album.self,
      [
        StoredProperty("cover", ExternalData.self),
        StoredProperty("booklet", ExternalData?.self),
        StoredProperty("pages", [ExternalData].self),
        StoredProperty("notes", ExternalData.self),
      ])
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(cover, externalAbove: 4096)
    buffer.write(booklet, externalAbove: 0)
    buffer.write(pages, externalAbove: 100_000)
    buffer.write(notes)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    cover = try buffer.read()
    booklet = try buffer.read()
    pages = try buffer.read()
    notes = try buffer.read()
  }
}

@Suite("Thresholds for values outside of records")
struct ThresholdTests {
  @Test(
    "Each property has its threshold, or that of the store",
    arguments: TestedBackend.plain)
  func limits(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let backend = try location.open()
      let store = Store(backend: backend)
      try store.register(Album.self)
      let album = Album()
      store.insert(album)
      func expect(_ count: Int, _ change: () -> Void) throws {
        change()
        try store.saveChanges()
        #expect(try backend.valueCount == count)
        #expect(try store.check().findings == [])
      }
      try expect(0) { album.cover = ExternalData(noise(4096)) }
      try expect(1) { album.cover = ExternalData(noise(4097)) }
      try expect(1) { album.booklet = ExternalData() }
      try expect(2) { album.booklet = ExternalData([7]) }
      try expect(2) { album.pages = [ExternalData(noise(100_000)), ExternalData(noise(50_000))] }
      try expect(3) { album.pages.append(ExternalData(noise(100_001))) }
      try expect(3) { album.notes = ExternalData(noise(16 << 10)) }
      try expect(4) { album.notes = ExternalData(noise(16 << 10 + 1)) }
      try backend.close()
      let again = Store(backend: try location.open())
      try again.register(Album.self)
      let found = try #require(try again.allObjects(of: Album.self).first)
      #expect(try found.cover.bytes() == noise(4097))
      #expect(try found.booklet?.bytes() == [7])
      #expect(try found.pages.map { try $0.bytes().count } == [100_000, 50_000, 100_001])
      #expect(try found.notes.bytes() == noise(16 << 10 + 1))
      try again.backend.close()
    }
  }

  @Test("Undoing a change of a value between the thresholds restores it")
  func undo() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Album.self)
    let album = Album()
    album.cover = ExternalData(noise(5000))
    store.insert(album)
    try store.saveChanges()
    let history = StoreUndoManager()
    store.undoManager = history
    history.group { album.cover = ExternalData(noise(9, seed: 2)) }
    try store.saveChanges()
    try history.undo()
    #expect(try album.cover.bytes() == noise(5000))
    try store.saveChanges()
    #expect(try store.backend.valueCount == 1)
  }
}
