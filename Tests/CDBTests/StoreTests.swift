import CDB
import Files
import Foundation
import TestFiles
import Testing

private struct Artist: Codable, Hashable, Sendable {
  var name: String
  var founded: Date
  var portrait: Data?
}

private struct Point: Hashable, Sendable {
  var x: Int32
  var y: Int32
}

/// Takes tags that it may not have.
private struct TagCodec: CDBValueCodec {
  func encode(_ value: UInt8) throws -> CDBEncodedValue {
    try CDBEncodedValue(tag: value, bytes: [value])
  }

  func decode(_ bytes: RawSpan, tag: UInt8) -> UInt8 { tag }
}

/// Leaves texts to the codec that is there, and has a tag of its own for what it adds.
private struct OptionalTextCodec: CDBValueCodec {
  func encode(_ value: String?) throws -> CDBEncodedValue {
    guard let value else { return try CDBEncodedValue(tag: 32, bytes: []) }
    return CDBStringValues().encode(value)
  }

  func decode(_ bytes: RawSpan, tag: UInt8) throws -> String? {
    tag == 32 ? nil : try CDBStringValues().decode(bytes, tag: tag)
  }
}

private struct PointCodec: CDBValueCodec {
  struct Unwilling: Error {}

  func encode(_ value: Point) throws -> CDBEncodedValue {
    if value.x < 0 { throw Unwilling() }
    let codec = CDBIntegerKeys<Int32>()
    return try CDBEncodedValue(tag: 32, bytes: codec.encode(value.x) + codec.encode(value.y))
  }

  func decode(_ bytes: RawSpan, tag: UInt8) throws -> Point {
    guard tag == 32, bytes.byteCount == 8 else { throw CDBCodecError("no point") }
    let codec = CDBIntegerKeys<Int32>()
    return Point(
      x: try codec.decode(bytes.extracting(..<4)), y: try codec.decode(bytes.extracting(4...)))
  }
}

@Suite("The persistent dictionary")
struct StoreTests {
  private func withStore(_ body: (CDBStringKeyStore, String) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let store = CDBStringKeyStore(directory + "/a.cdb")
      try store.open()
      try body(store, directory + "/a.cdb")
    }
  }

  @Test("A missing file is an empty store, and the first save creates it")
  func missing() throws {
    try withStore { store, path in
      #expect(!store.exists && store.isOpen && !store.hasChanges)
      #expect(store["a"] == nil)
      #expect(Array(store.keys) == [])
      try store.save()
      #expect(!store.exists)
      store["a"] = 1
      #expect(store.hasChanges && !store.exists)
      try store.save()
      #expect(store.exists && !store.hasChanges)
      #expect(store.failure == nil)
    }
  }

  @Test("Values of every type read back")
  func types() throws {
    try withStore { store, path in
      let artist = Artist(
        name: "Queen", founded: Date(timeIntervalSince1970: 1), portrait: Data([7]))
      let values: [String: CDBValue] = [
        "data": .data(Data([0, 255])), "no data": .data(Data()), "text": "Bicycle Race ☃",
        "no text": "", "integer": -7, "largest": .integer(.max), "number": 0.1,
        "infinite": .number(-.infinity), "yes": true, "no": false,
        "archive": .archive(Data([1])), "artist": try CDBValue(encoding: artist),
        "plain": try CDBValue(encoding: 42),
      ]
      for (key, value) in values { store[key] = value }
      try store.close()
      #expect(!store.isOpen)
      try store.open()
      #expect(try store.allKeysAndValues() == values)
      #expect(try store["artist"]?.decode(Artist.self) == artist)
      #expect(try store["plain"]?.decode(Int.self) == 42)
      #expect(throws: CDBCodecError.self) { try store["text"]?.decode(Int.self) }
    }
  }

  @Test("Texts and data have the bytes of the original: a tag and the content")
  func originalBytes() throws {
    try withStore { store, path in
      store["text"] = "é"
      store["data"] = .data(Data([9, 8]))
      try store.save()
      let reader = try CDBReader(path)
      #expect(try reader.value(forKey: "text") == [1, 0xC3, 0xA9])
      #expect(try reader.value(forKey: "data") == [0, 9, 8])
    }
  }

  @Test("Setting nil deletes, before and after a save")
  func deleting() throws {
    try withStore { store, path in
      store["a"] = 1
      store["b"] = 2
      store["a"] = nil
      try store.save()
      #expect(Array(store.keys) == ["b"])
      store["b"] = nil
      #expect(store["b"] == nil)
      #expect(Array(store.keys) == [])
      #expect(Array(store.values) == [])
      try store.save()
      #expect(try CDBReader(path).count == 0)
    }
  }

  @Test("Keys and values have the order of the file, then the new ones, with all changes")
  func sequences() throws {
    try withStore { store, path in
      let pairs = [(99, 51), (97, 49), (98, 50), (97, 57)].map { Pair([$0.0], [1, $0.1]) }
      try write(pairs, to: path)
      let store = CDBStringKeyStore(path)
      try store.open()
      store["b"] = nil
      store["a"] = "new"
      store["d"] = "4"
      let keys = store.keys
      #expect(Array(keys) == ["c", "a", "d"])
      #expect(Array(store.values) == ["3", "new", "4"])
      #expect(Set(store.changedKeys) == ["a", "b", "d"])
      // A sequence under way is not disturbed by what happens to the store.
      let iterator = keys.makeIterator()
      #expect(iterator.next() == "c")
      store["a"] = nil
      try store.save()
      #expect(iterator.next() == "a")
      #expect(iterator.next() == "d")
      #expect(iterator.next() == nil)
      #expect(Array(store.keys) == ["c", "d"])
    }
  }

  @Test("Emptying the cache keeps all unsaved changes")
  func emptyingTheCache() throws {
    try withStore { store, path in
      store["a"] = 1
      try store.save()
      store["a"] = 2
      store["b"] = 3
      store.emptyCache()
      #expect(store["a"] == 2)
      #expect(store["b"] == 3)
      #expect(Set(store.changedKeys) == ["a", "b"])
      store.discardChanges()
      #expect(store["a"] == 1)
      #expect(store["b"] == nil)
    }
  }

  @Test("A failed save keeps all changes and can be tried again", arguments: WritingStep.allCases)
  func failedSave(step: WritingStep) throws {
    // Nothing is replaced in a save.
    if step == .compact { return }
    try withTemporaryDirectory { directory in
      let path = directory + "/a.cdb"
      let disk = FailingDisk(step)
      let store = CDBStore(
        path, keys: CDBStringKeys(), values: CDBValues(), in: disk.fileSystem)
      try store.open()
      store["kept"] = 1
      store["deleted"] = 2
      try store.save()
      store["deleted"] = nil
      store["new"] = 3
      disk.isFailing = true
      #expect(failure { try store.save() }?.code == .ioError)
      #expect(failure { try store.close() } != nil)
      #expect(store.isOpen)
      #expect(Set(store.changedKeys) == ["deleted", "new"])
      #expect(store["deleted"] == nil)
      #expect(store["new"] == 3)
      #expect(try names(directory) == ["a.cdb"])
      disk.isFailing = false
      try store.save()
      #expect(try names(directory) == ["a.cdb"])
      let other = CDBStringKeyStore(path)
      try other.open()
      #expect(try other.allKeysAndValues() == ["kept": 1, "new": 3])
    }
  }

  @Test("A value that can't be encoded fails the save only")
  func notEncodable() throws {
    try withTemporaryDirectory { directory in
      let store = CDBStore(directory + "/a.cdb", keys: CDBDataKeys(), values: PointCodec())
      try store.open()
      store[Data([1])] = Point(x: 1, y: -2)
      store[Data([2])] = Point(x: -1, y: 0)
      let error = failure { try store.save() }
      #expect(error?.code == .notEncodable)
      #expect(error?.key == [2])
      store[Data([2])] = nil
      try store.save()
      #expect(try store.allKeysAndValues() == [Data([1]): Point(x: 1, y: -2)])
    }
  }

  @Test("Codecs of applications can't use the tags 0 to 31: the save fails and keeps all changes")
  func reservedTags() throws {
    try withTemporaryDirectory { directory in
      let store = CDBStore(directory + "/a.cdb", keys: CDBIntegerKeys<UInt8>(), values: TagCodec())
      try store.open()
      for tag in 0...31 as ClosedRange<UInt8> {
        store[tag] = tag
        let error = failure { try store.save() }
        #expect(error?.code == .notEncodable)
        #expect(error?.key == [tag])
        #expect(error?.message.contains("the tag \(tag) is reserved") == true)
        #expect(store.changedKeys == [tag] && store[tag] == tag)
        #expect(try names(directory) == [])
        store.discardChanges()
      }
      for tag in [32, 33, 255] as [UInt8] { store[tag] = tag }
      try store.save()
      #expect(try CDBReader(directory + "/a.cdb").value(forKey: [32]) == [32, 32])
      #expect(try store.allKeysAndValues() == [32: 32, 33: 33, 255: 255])
    }
  }

  @Test("A codec of an application can leave values to the built-in ones")
  func delegatingCodec() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a.cdb"
      let store = CDBStore(path, keys: CDBStringKeys(), values: OptionalTextCodec())
      try store.open()
      try store.setValue(.some("text"), forKey: "a")
      try store.setValue(.some(nil), forKey: "b")
      try store.save()
      #expect(try CDBReader(path).value(forKey: "a") == [1] + Array("text".utf8))
      #expect(try CDBReader(path).value(forKey: "b") == [32])
    }
  }

  @Test("A value of another codec is an error that names the key, and a save keeps its bytes")
  func notDecodable() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a.cdb"
      try write([Pair([1, 0, 0, 0], [32, 1]), Pair([2, 0, 0, 0], [])], to: path)
      let store = CDBStore(path, keys: CDBIntegerKeys<UInt32>(), values: CDBValues())
      try store.open()
      let error = failure { _ = try store.value(forKey: 1) }
      #expect(error?.code == .notDecodable)
      #expect(error?.key == [1, 0, 0, 0])
      #expect(failure { _ = try store.value(forKey: 2) }?.code == .notDecodable)
      #expect(store[1] == nil)
      #expect((store.failure as? CDBError)?.code == .notDecodable)
      store.clearFailure()
      #expect(Array(store.keys) == [1, 2])
      #expect(Array(store.values) == [])
      #expect(store.failure != nil)
      store[3] = 3
      try store.save()
      #expect(try CDBReader(path).value(forKey: [1, 0, 0, 0]) == [32, 1])
    }
  }

  @Test("A key that isn't the codec's ends the sequence, and forEach throws it")
  func undecodableKey() throws {
    try withTemporaryDirectory { directory in
      try write([Pair([0xFF], [1, 65])], to: directory + "/a.cdb")
      let store = CDBStringKeyStore(directory + "/a.cdb")
      try store.open()
      #expect(Array(store.keys) == [])
      #expect(failure { try store.forEach { _, _ in } }?.code == .notDecodable)
    }
  }

  @Test("A save keeps changes of another program")
  func changedElsewhere() throws {
    try withStore { store, path in
      store["a"] = 1
      try store.save()
      let other = CDBStringKeyStore(path)
      try other.open()
      other["a"] = 2
      try other.save()
      store["a"] = 3
      #expect(failure { try store.save() }?.code == .changedElsewhere)
      store.discardChanges()
      try store.close()
      try store.open()
      #expect(store["a"] == 2)
    }
  }

  @Test("A closed store throws for reads and writes")
  func closed() throws {
    try withStore { store, path in
      store["a"] = 1
      try store.close()
      try store.close()
      #expect(failure { _ = try store.value(forKey: "a") }?.code == .closed)
      #expect(failure { try store.setValue(1, forKey: "a") }?.code == .closed)
      #expect(failure { try store.save() }?.code == .closed)
      #expect(failure { try store.forEach { _, _ in } }?.code == .closed)
      #expect(store["a"] == nil)
      #expect(!store.hasChanges)
    }
  }

  @Test("A released store saves its changes")
  func dropped() throws {
    try withTemporaryDirectory { directory in
      do {
        let store = CDBStringKeyStore(directory + "/a.cdb")
        try store.open()
        store["a"] = 1
      }
      #expect(try CDBReader(directory + "/a.cdb").count == 1)
    }
  }
}
