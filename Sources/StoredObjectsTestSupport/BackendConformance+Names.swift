import StoredObjectsCore

extension BackendConformance {
  static let names: [Check] = [
    .opened("A named buffer reads back, and is replaced and removed") { backend in
      try expectEqual(try backend.namedBuffer("Favorite"), nil, "a name that is not there")
      try backend.commit { $0.set("Favorite", [1, 2, 3]) }
      try expectEqual(try backend.namedBuffer("Favorite"), [1, 2, 3], "the buffer")
      try backend.commit { $0.set("Favorite", [4]) }
      try expectEqual(try backend.namedBuffer("Favorite"), [4], "the buffer, replaced")
      try expectEqual(try backend.bufferNames(), ["Favorite"], "the names")
      try backend.commit { $0.set("Favorite", nil) }
      try expectEqual(try backend.namedBuffer("Favorite"), nil, "the buffer, removed")
      try expectEqual(try backend.bufferNames(), [], "the names, when there are none")
    },
    .opened("Removing a missing name is not an error") { backend in
      try backend.commit { $0.set("Nothing", nil) }
      try expectEqual(try backend.bufferNames(), [], "the names")
    },
    .opened("An empty buffer differs from no buffer") { backend in
      try backend.commit { $0.set("Empty", []) }
      try expectEqual(try backend.namedBuffer("Empty"), [], "the empty buffer")
      try expectEqual(try backend.bufferNames(), ["Empty"], "the names")
    },
    Check("A name can be any text: Unicode, spaces, NUL, slashes, very long") { location in
      try withBackend(location) { backend in
        try backend.commit { changes in
          for (index, name) in oddNames.enumerated() { changes.set(name, [UInt8(index)]) }
        }
        try checkOddNames(backend)
      }
      try withBackend(location) { backend in
        try checkOddNames(backend)
        // Every second name is removed, and the others stay.
        try backend.commit { changes in
          for (index, name) in oddNames.enumerated() where index % 2 == 0 {
            changes.set(name, nil)
          }
        }
        for (index, name) in oddNames.enumerated() {
          try expectEqual(
            try backend.namedBuffer(name), index % 2 == 0 ? nil : [UInt8(index)],
            "after removals, \(name.debugDescription.prefix(60))")
        }
      }
    },
    .opened("A buffer and a table can have the same name") { backend in
      let table = try backend.table(named: "Song")
      try backend.commit { $0.set("Song", [1]) }
      try expectEqual(try backend.tableNames(), [], "tables, when there is only a named buffer")
      try backend.commit { $0.insert(2, in: table, [2]) }
      try expectEqual(try backend.tableNames(), ["Song"], "the tables")
      try expectEqual(try backend.bufferNames(), ["Song"], "the names")
      try expectEqual(try backend.records(in: table), [2: [2]], "the records")
      try backend.commit { $0.set("Song", nil) }
      try expectEqual(try backend.records(in: table), [2: [2]], "records, without the name")
    },
    .opened("There can be thousands of names") { backend in
      try backend.commit { changes in
        for number in 0..<UInt32(3_000) { changes.set("Name \(number)", number.bytes) }
      }
      try expectEqual(
        Set(try backend.bufferNames()), Set((0..<3_000).map { "Name \($0)" }), "the names")
      for number in 0..<UInt32(3_000) {
        try expectEqual(
          try backend.namedBuffer("Name \(number)"), number.bytes, "name \(number)")
      }
    },
  ]

  private static let oddNames = [
    "Favorite", "favorite", " ", "  ", "two words", "trailing ", "Ünïcödé", "日本語", "👩‍👩‍👧‍👦",
    "nul\0inside", "nul\0", "\0", "a/b/../c", ".", "..", "/", "\\", "line\nbreak", "*?\"<>|",
    String(repeating: "long ", count: 1_000),
  ]

  private static func checkOddNames(_ backend: any StoreBackend) throws {
    try expectEqual(try backend.bufferNames().count, oddNames.count, "number of names")
    try expectEqual(Set(try backend.bufferNames()), Set(oddNames), "the names")
    for (index, name) in oddNames.enumerated() {
      try expectEqual(
        try backend.namedBuffer(name), [UInt8(index)], "\(name.debugDescription.prefix(60))")
    }
  }
}
