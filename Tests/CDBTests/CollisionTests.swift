import CDB
import Foundation
import TestFiles
import Testing

/// Keys that were chosen to have one hash.
private enum Colliding {
  static func hash(_ bytes: [UInt8], from start: UInt32 = 5381) -> UInt32 {
    bytes.reduce(start) { ($0 &* 33) ^ UInt32($1) }
  }

  /// Two pieces that lead from one state of the hash to the same other one.
  private static func pieces(from state: UInt32) -> [[UInt8]] {
    var seen: [UInt32: [UInt8]] = [:]
    let letters = Array(UInt8(ascii: "A")...UInt8(ascii: "z"))
    for first in letters {
      for second in letters {
        let piece = [first, second]
        if let other = seen.updateValue(piece, forKey: hash(piece, from: state)) {
          return [other, piece]
        }
      }
    }
    return []
  }

  /// So many keys, of pieces each of which has an alternative.
  static func keys(_ count: Int) -> [[UInt8]] {
    var (keys, state): ([[UInt8]], UInt32) = ([[]], 5381)
    while keys.count < count {
      let pieces = pieces(from: state)
      keys = keys.flatMap { key in pieces.map { key + $0 } }
      state = hash(pieces[0], from: state)
    }
    return Array(keys.prefix(count))
  }
}

@Suite("Keys with the same hash")
struct CollisionTests {
  private func withFile(_ body: (String) throws -> Void) throws {
    let folder = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder + "/test.cdb")
  }

  @Test(
    "Writing, finding and verifying them takes time in proportion to their number",
    arguments: [CDBWriter.DuplicatePolicy.add, .replace])
  func many(policy: CDBWriter.DuplicatePolicy) throws {
    let keys = Colliding.keys(24_000)
    #expect(Set(keys.map { Colliding.hash($0) }).count == 1 && Set(keys).count == keys.count)
    let growth = try timeGrowth(upTo: keys.count) { count in
      try withFile { path in
        let keys = keys.prefix(count)
        let writer = try CDBWriter(path)
        for key in keys { try writer.add(key, forKey: key, ifPresent: policy) }
        try writer.finish(synchronize: false)
        let reader = try CDBReader(path)
        #expect(try keys.allSatisfy { try reader.value(forKey: $0) == $0 })
        #expect(try reader.value(forKey: keys[0] + [1]) == nil)
        try reader.verify()
      }
    }
    // In proportion would be 4, one by one 16.
    #expect(growth < 9)
  }

  @Test("Several values of a key keep their order, and replacing finds the right one")
  func values() throws {
    let keys = Colliding.keys(2000)
    try withFile { path in
      let writer = try CDBWriter(path)
      for round in 0..<3 {
        for (number, key) in keys.enumerated() {
          try writer.add([UInt8(round), UInt8(number % 256)], forKey: key)
        }
      }
      for key in keys.prefix(10) { try writer.add([9], forKey: key, ifPresent: .replace) }
      for key in keys.suffix(10) {
        #expect(try writer.add([8], forKey: key, ifPresent: .insertIfAbsent) == .keptOld)
      }
      try writer.finish(synchronize: false)
      let reader = try CDBReader(path)
      for (number, key) in keys.enumerated() {
        let expected: [[UInt8]] =
          number < 10 ? [[9]] : (0..<3).map { [UInt8($0), UInt8(number % 256)] }
        #expect(try reader.values(forKey: key) == expected)
        #expect(try reader.value(forKey: key) == expected[0])
      }
      try reader.verify()
    }
  }

  @Test("A key with very many values, and its neighbours, are found")
  func oneKey() throws {
    try withFile { path in
      let writer = try CDBWriter(path)
      for number in 0..<5000 { try writer.add("\(number)", forKey: "a") }
      for number in 0..<5000 { try writer.add("\(number)", forKey: "key \(number)") }
      try writer.finish(synchronize: false)
      let reader = try CDBReader(path)
      #expect(try reader.values(forKey: Array("a".utf8)).count == 5000)
      #expect(
        try reader.values(forKey: Array("a".utf8)).map { String(decoding: $0, as: UTF8.self) }
          == (0..<5000).map(String.init))
      for number in 0..<5000 {
        #expect(try reader.value(forKey: "key \(number)") == Array("\(number)".utf8))
      }
      try reader.verify()
    }
  }

  @Test("Opening and saving a store with such keys takes such time, too")
  func store() throws {
    let colliding = Colliding.keys(12_000)
    let growth = try timeGrowth(upTo: colliding.count) { count in
      try withFile { path in
        let keys = colliding.prefix(count).map { String(decoding: $0, as: UTF8.self) }
        let store = CDBStore(path, keys: CDBStringKeys(), values: CDBStringValues())
        try store.open()
        for key in keys { store[key] = key }
        try store.save()
        for key in keys.prefix(count / 2) { store[key] = nil }
        try store.save()
        try store.close()
        let other = CDBStore(path, keys: CDBStringKeys(), values: CDBStringValues())
        try other.open()
        #expect(try CDBReader(path).count == count - count / 2)
        #expect(other[keys[count - 1]] == keys[count - 1] && other[keys[0]] == nil)
        try other.close()
      }
    }
    #expect(growth < 9)
  }

  @Test("An invalid record is damage to its own key only")
  func damaged() throws {
    let keys = Colliding.keys(1000)
    try withFile { path in
      let writer = try CDBWriter(path)
      for key in keys { try writer.add([1], forKey: key) }
      try writer.add([2], forKey: [0])
      try writer.finish(synchronize: false)
      var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
      let size = 8 + keys[0].count + 1
      // The size of the key of the last colliding record.
      for byte in 0..<4 { bytes[2048 + 999 * size + byte] = 0xFF }
      let reader = try CDBReader(copying: bytes)
      #expect(throws: CDBError.self) { try reader.value(forKey: keys[999]) }
      #expect(try reader.value(forKey: [0]) == [2])
    }
  }
}
