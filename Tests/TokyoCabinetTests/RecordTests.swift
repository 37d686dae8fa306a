import TestFiles
import Testing
import TokyoCabinet

@Suite("Records of a hash database")
struct RecordTests {
  @Test("A stored value reads back, whatever its size and bytes")
  func roundTrip() throws {
    try withDatabase { db in
      for size in [0, 1, 3, 1022, 1023, 1024, 1025, 70_000, 300_000] {
        let value = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try db.put(key: key(UInt32(size)), value: value)
        #expect(try db.value(forKey: key(UInt32(size))) == value)
        #expect(try db.valueSize(forKey: key(UInt32(size))) == size)
      }
      #expect(try db.count == 9)
    }
  }

  @Test("An empty key is valid")
  func emptyKey() throws {
    try withDatabase { db in
      #expect(try db.value(forKey: []) == nil)
      try db.put(key: [], value: [7])
      #expect(try db.value(forKey: []) == [7])
      #expect(try db.remove(key: []))
    }
  }

  @Test("A second put replaces the first")
  func replace() throws {
    try withDatabase { db in
      try db.put(key: [1], value: [1])
      try db.put(key: [1], value: [2, 3])
      #expect(try db.value(forKey: [1]) == [2, 3])
      #expect(try db.count == 1)
    }
  }

  @Test("Put-if-absent stores once and reports it")
  func putIfAbsent() throws {
    try withDatabase { db in
      let isNew = try db.putIfAbsent(key: [1], value: [1])
      #expect(isNew)
      #expect(try !db.putIfAbsent(key: [1], value: [2]))
      #expect(try db.value(forKey: [1]) == [1])
    }
  }

  @Test("Append creates a value, then makes it longer")
  func append() throws {
    try withDatabase { db in
      try db.append(key: [1], value: [1, 2])
      try db.append(key: [1], value: [3])
      #expect(try db.value(forKey: [1]) == [1, 2, 3])
    }
  }

  @Test("A removed key is not found")
  func remove() throws {
    try withDatabase { db in
      try db.put(key: [1], value: [1])
      #expect(try db.remove(key: [1]))
      #expect(try !db.remove(key: [1]))
      #expect(try db.value(forKey: [1]) == nil)
      #expect(try db.valueSize(forKey: [1]) == nil)
    }
  }

  @Test("After removeAll the database is empty and usable")
  func removeAll() throws {
    try withDatabase { db in
      for number in 0..<100 { try db.put(key: key(UInt32(number)), value: [1]) }
      try db.removeAll()
      #expect(try db.count == 0)
      try db.put(key: [1], value: [1])
      #expect(try db.count == 1)
    }
  }

  @Test("A look-up can call the database, also to write")
  func reentrance() throws {
    try withDatabase { db in
      try db.put(key: [1], value: [1, 2, 3])
      try db.put(key: [2], value: Array(repeating: 9, count: 5000))
      let size = try withValue(of: [1], in: db) { outer in
        try db.put(key: [3], value: [4])
        let inner = try db.value(forKey: [2])?.count ?? 0
        return outer.byteCount * 10_000 + inner
      }
      #expect(size == 35_000)
    }
  }

  @Test("An error of a look-up's closure is thrown")
  func bodyThrows() throws {
    try withDatabase { db in
      try db.put(key: [1], value: [1])
      #expect(throws: Planted.self) {
        _ = try withValue(of: [1], in: db) { _ in throw Planted() }
      }
    }
  }

  @Test(
    "Compressed values read back", arguments: [Tuning.Options.deflate, .bzip, .tcbs])
  func compression(options: Tuning.Options) throws {
    try withDatabase(Tuning(options: options)) { db in
      let value = (0..<20_000).map { UInt8($0 % 7) }
      try db.put(key: [1], value: value)
      #expect(try db.value(forKey: [1]) == value)
      #expect(try db.options == options)
      #expect(try db.fileSize < 600_000)
    }
  }

  @Test("The tuning of a new file is stored in the file")
  func tuning() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/a"
      let tuning = Tuning(bucketCount: 1000, alignmentPower: 2, options: [.large])
      try HashDatabase(path: path, tuning: tuning).close()
      let db = try HashDatabase(path: path, mode: .readOnly, tuning: Tuning())
      #expect(try db.alignment == 4)
      #expect(try db.options == [.large])
      #expect(try (1000...1300).contains(db.bucketCount))
    }
  }
}

struct Planted: Error {}

/// Looks a key up with a closure.
func withValue<Result>(
  of key: [UInt8], in database: HashDatabase, _ body: (RawSpan) throws -> Result
) throws -> Result? {
  try database.withValue(forKey: unsafe key.span.bytes, body)
}

/// Runs a test on a new database, and closes it.
func withDatabase(_ tuning: Tuning = Tuning(), _ body: (HashDatabase) throws -> Void) throws {
  try withTemporaryDirectory { directory in
    let database = try HashDatabase(path: directory + "/test", tuning: tuning)
    try body(database)
    try database.close()
  }
}
