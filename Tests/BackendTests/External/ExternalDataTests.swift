import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

@Suite("Values outside of records")
struct ExternalDataTests {
  private static let large = 100_000

  @Test(
    "A value of any size reads back, and only large ones are outside",
    arguments: TestedBackend.allCases)
  func sizes(_ kind: TestedBackend) throws {
    let sizes = [
      0, 1, 16 << 10, 16 << 10 + 1, 64 << 10, 64 << 10 + 1, 128 << 10, 300_000,
    ]
    try kind.withLocation { location in
      let backend = try location.open()
      let store = try Store.ofRecordings(backend)
      for size in sizes { store.insertRecording("\(size)", noise(size, seed: UInt64(size))) }
      try store.saveChanges()
      #expect(try backend.valueCount == sizes.count { $0 > 16 << 10 })
      try backend.close()

      let again = try location.open(readOnly: true)
      defer { try? again.close() }
      let recordings = try Store.ofRecordings(again).allObjects(of: Recording.self)
      #expect(recordings.count == sizes.count)
      for recording in recordings {
        let size = try #require(Int(recording.title))
        #expect(recording.audio.byteCount == size)
        #expect(try recording.audio.bytes() == noise(size, seed: UInt64(size)))
      }
      #expect(try Store.ofRecordings(again).check().findings == [])
    }
  }

  @Test("A record has 29 bytes of a large value, whose bytes are not in memory after the save")
  func record() throws {
    let backend = try MemoryBackend()
    let store = try Store.ofRecordings(backend)
    let recording = store.insertRecording("A", noise(Self.large))
    try store.saveChanges()
    let table = try backend.table(named: "Recording")
    // Version, title, tag, reference, checksum.
    #expect(try backend.record(recording.rowID, in: table)?.count == 1 + 5 + 1 + 28 + 4)
  }

  @Test(
    "A replaced value, and that of a deleted object, is removed with the save",
    arguments: TestedBackend.usual)
  func removal(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let backend = try location.open()
      defer { try? backend.close() }
      let store = try Store.ofRecordings(backend)
      let recording = store.insertRecording("A", noise(Self.large))
      try store.saveChanges()
      let first = try backend.externalStorage?.list().map(\.id)
      recording.audio = ExternalData(noise(Self.large, seed: 2))
      #expect(try backend.valueCount == 1)
      try store.saveChanges()
      #expect(try backend.valueCount == 1)
      #expect(try backend.externalStorage?.list().map(\.id) != first)
      recording.title = "B"
      try store.saveChanges()
      #expect(try recording.audio.bytes() == noise(Self.large, seed: 2))
      recording.audio = ExternalData()
      try store.saveChanges()
      #expect(try backend.valueCount == 0)
      let other = store.insertRecording("C", noise(Self.large))
      try store.saveChanges()
      store.delete(other)
      #expect(try backend.valueCount == 1)
      try store.saveChanges()
      other.audio = ExternalData()
      try store.saveChanges()
      store.collect()
      #expect(try backend.valueCount == 0)
      #expect(try store.check().findings == [])
    }
  }

  @Test("Objects deleted without being read remove their values")
  func unread() throws {
    let disk = MemoryDisk()
    let backend = try MemoryBackend(disk: disk)
    let store = try Store.ofRecordings(backend)
    for index in 0..<20 { store.insertRecording("\(index)", noise(20_000, seed: UInt64(index))) }
    try store.saveChanges()
    backend.close()
    let again = try MemoryBackend(disk: disk)
    let second = try Store.ofRecordings(again)
    #expect(try again.valueCount == 20)
    for recording in try second.allObjects(of: Recording.self) where recording.rowID % 2 == 0 {
      second.delete(recording)
    }
    try second.saveChanges()
    second.collect()
    #expect(try again.valueCount == 10)
    #expect(try second.check().findings == [])
  }

  @Test("Objects share a value, which is removed with the last of them")
  func sharing() throws {
    let backend = try MemoryBackend()
    let store = try Store.ofRecordings(backend)
    let first = store.insertRecording("A", noise(Self.large))
    let second = store.insertRecording("B", [])
    second.audio = first.audio
    try store.saveChanges()
    #expect(try backend.valueCount == 1)
    first.audio = ExternalData()
    try store.saveChanges()
    #expect(try second.audio.bytes() == noise(Self.large))
    #expect(try backend.valueCount == 1)
    second.audio = ExternalData()
    try store.saveChanges()
    #expect(try backend.valueCount == 0)
  }

  @Test("A value of another store is copied")
  func otherStore() throws {
    let (first, second) = (try MemoryBackend(), try MemoryBackend())
    let store = try Store.ofRecordings(first)
    let recording = store.insertRecording("A", noise(Self.large))
    try store.saveChanges()
    let other = try Store.ofRecordings(second)
    let copy = other.insertRecording("B", [])
    copy.audio = recording.audio
    try other.saveChanges()
    first.close()
    #expect(try second.valueCount == 1)
    let found = try #require(try Store.ofRecordings(second).recording("B"))
    #expect(try found.audio.bytes() == noise(Self.large))
  }

  @Test(
    "Streams write and read 16 MiB in chunks",
    arguments: [TestedBackend.memory, .tokyoCabinet, .encryptedCDB])
  func streams(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let backend = try location.open()
      defer { try? backend.close() }
      let store = try Store.ofRecordings(backend)
      let part = noise(1_000_003)
      let count = (16 << 20) / part.count
      let writer = try store.makeExternalWriter()
      for _ in 0..<count { try writer.write(part) }
      let recording = store.insertRecording("A", [])
      recording.audio = try writer.finish()
      expectError(.invalidArgument) { try writer.write([1]) }
      try store.saveChanges()
      var reader = try recording.audio.reader()
      #expect(reader.byteCount == count * part.count)
      var (location, isSame) = (0, true)
      while let chunk = try reader.next() {
        #expect(chunk.count <= 64 << 10)
        let start = location % part.count
        let first = min(chunk.count, part.count - start)
        isSame =
          isSame && chunk[..<first] == part[start..<start + first]
          && chunk[first...] == part[..<(chunk.count - first)]
        location += chunk.count
      }
      #expect(isSame && location == count * part.count)
      let middle = part.count - 10..<part.count + 70_000
      #expect(try reader.bytes(in: middle) == Array((part + part)[middle]))
    }
  }

  @Test("A value that is written and not saved leaves nothing")
  func unsaved() throws {
    let backend = try MemoryBackend()
    let store = try Store.ofRecordings(backend)
    do {
      let writer = try store.makeExternalWriter()
      try writer.write(noise(Self.large))
      _ = try writer.finish()
    }
    do { try store.makeExternalWriter().write(noise(Self.large)) }
    store.discardChanges()
    #expect(try backend.valueCount == 0)
  }

  @Test("A save that fails keeps the value for the next try")
  func failedSave() throws {
    let backend = FailingBackend(try MemoryBackend())
    let store = try Store.ofRecordings(backend)
    let recording = store.insertRecording("A", noise(Self.large))
    backend.failCommits()
    expectError(.ioError) { try store.saveChanges() }
    #expect(try recording.audio.bytes() == noise(Self.large))
    try store.saveChanges()
    #expect(try backend.valueCount == 1)
    recording.audio = ExternalData(noise(Self.large, seed: 2))
    backend.failCommits()
    expectError(.ioError) { try store.saveChanges() }
    store.discardChanges()
    #expect(try recording.audio.bytes() == noise(Self.large))
    store.collect()
    #expect(try backend.valueCount == 1)
    #expect(try store.check().findings == [])
  }

  @Test("Data can become ExternalData, and ExternalData Data", arguments: TestedBackend.usual)
  func conversion(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let bytes = noise(Self.large)
      do {
        let backend = try location.open()
        let store = Store(backend: backend)
        try store.register(PlainRecording.self)
        for size in [10, Self.large] {
          let recording = PlainRecording()
          (recording.title, recording.audio) = ("\(size)", Data(bytes.prefix(size)))
          store.insert(recording)
        }
        try store.saveChanges()
        try backend.close()
      }
      do {
        let backend = try location.open()
        let store = try Store.ofRecordings(backend)
        for recording in try store.allObjects(of: Recording.self) {
          #expect(
            try recording.audio.bytes() == Array(bytes.prefix(try #require(Int(recording.title)))))
        }
        #expect(try backend.valueCount == 0)
        try store.upgradeObjects(of: Recording.self)
        #expect(try backend.valueCount == 1)
        #expect(try store.check().findings == [])
        try backend.close()
      }
      let backend = try location.open()
      defer { try? backend.close() }
      let store = Store(backend: backend)
      try store.register(LaterRecording.self)
      for recording in try store.allObjects(of: LaterRecording.self) {
        #expect(Array(recording.audio) == Array(bytes.prefix(try #require(Int(recording.title)))))
      }
      try store.upgradeObjects(of: LaterRecording.self)
      #expect(try backend.valueCount == 0)
      #expect(try store.check().findings == [])
    }
  }
}

extension Store {
  /// Has the store remove what nobody holds any more.
  func collect() { mergeChanges() }
}
