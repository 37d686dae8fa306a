import CDB
import Foundation
import TestFiles
import Testing

/// A value that may hold others of its kind.
private struct Nest: Codable, Equatable {
  var inner: [Nest] = []
}

/// A property list of arrays, each of which holds the next.
private func nestedPropertyList(_ depth: Int) -> Data {
  var bytes = Array("bplist00".utf8)
  var offsets: [Int] = []
  for number in 1...depth {
    offsets.append(bytes.count)
    bytes += [0xA1] + bigEndian(number, 3)
  }
  offsets.append(bytes.count)
  bytes.append(0xA0)
  let table = bytes.count
  for offset in offsets { bytes += bigEndian(offset, 4) }
  bytes += [0, 0, 0, 0, 0, 0, 4, 3]
  for number in [depth + 1, 0, table] { bytes += bigEndian(number, 8) }
  return Data(bytes)
}

private func bigEndian(_ number: Int, _ count: Int) -> [UInt8] {
  (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

@Suite("Nested values")
struct NestedValueTests {
  @Test("A hostile property list is an error at any depth", arguments: [300, 100_000])
  func hostile(depth: Int) throws {
    let value = CDBValue.encoded(nestedPropertyList(depth))
    #expect(throws: CDBCodecError.self) { try value.decode([[Int]].self) }
    let xml = "<plist>" + String(repeating: "<array>", count: depth)
    #expect(throws: CDBCodecError.self) {
      try CDBValue.encoded(Data(xml.utf8)).decode([[Int]].self)
    }
    let selfReference = Data(
      Array("bplist00".utf8) + [0xA1, 0, 8, 0, 0, 0, 0, 0, 0, 1, 1] + bigEndian(1, 8)
        + bigEndian(0, 8) + bigEndian(10, 8))
    #expect(throws: CDBCodecError.self) {
      try CDBValue.encoded(selfReference).decode([[Int]].self)
    }
  }

  @Test("A value that could not be read again is refused by the save")
  func refused() throws {
    try withTemporaryDirectory { directory in
      let store = CDBStore(
        directory + "/a.cdb", keys: CDBStringKeys(), values: CDBCodableValues<Nest>())
      try store.open()
      var nest = Nest()
      for _ in 0..<40 { nest = Nest(inner: [nest]) }
      store["shallow"] = nest
      try store.save()
      store.emptyCache()
      #expect(try store.value(forKey: "shallow") == nest)
      for _ in 0..<200 { nest = Nest(inner: [nest]) }
      store["deep"] = nest
      #expect(failure { try store.save() }?.code == .notEncodable)
      #expect(store.hasChanges)
      store["deep"] = nil
      try store.save()
    }
  }
}
