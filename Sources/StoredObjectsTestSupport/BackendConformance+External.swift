import StoredObjectsCore

extension BackendConformance {
  static let external: [Check] = [
    .opened("A value outside of records is read in chunks") { backend in
      guard let storage = backend.externalStorage else { return }
      let reference = try write(chunks(3, last: 17), to: storage)
      let value = try storage.open(reference)
      for (number, chunk) in chunks(3, last: 17).enumerated() {
        try expectEqual(try value.chunk(number), chunk, "chunk \(number)")
      }
      try expectEqual(try storage.list().map(\.id), [reference.id], "the values")
    },
    .opened("A value can be empty, or end with a complete chunk") { backend in
      guard let storage = backend.externalStorage else { return }
      let empty = try write([], to: storage)
      _ = try storage.open(empty)
      let whole = try write(chunks(2, last: ExternalChunks.size), to: storage)
      try expectEqual(
        try storage.open(whole).chunk(1).count, ExternalChunks.size, "the last chunk")
    },
    .opened("An open value stays readable after its removal, and can't be opened again") {
      backend in
      guard let storage = backend.externalStorage else { return }
      let reference = try write(chunks(2, last: 5), to: storage)
      let value = try storage.open(reference)
      try storage.remove(reference.id)
      try storage.remove(reference.id)
      try expectEqual(try value.chunk(1), chunks(2, last: 5)[1], "the last chunk")
      try expectError(.recordMissing, "a removed value") { _ = try storage.open(reference) }
      try expectEqual(try storage.list().count, 0, "values")
    },
    .opened("A value of another size than its reference says is damaged") { backend in
      guard let storage = backend.externalStorage else { return }
      let reference = try write(chunks(2, last: 5), to: storage)
      for count in [0, reference.byteCount - 1, reference.byteCount + 1, 1 << 50] {
        let other = ExternalReference(
          id: reference.id, byteCount: count, checksum: reference.checksum)
        try expectError(.damaged, "a size of \(count)") { _ = try storage.open(other) }
      }
    },
    .opened("An unfinished value is removed with its writer") { backend in
      guard let storage = backend.externalStorage else { return }
      do { try storage.create(.random()).append([1, 2, 3]) }
      try expectEqual(try storage.list().count, 0, "values")
    },
    Check("Values exist without a commit, and a closed backend returns none") { location in
      var reference: ExternalReference?
      var storage: (any ExternalStorage)?
      try withBackend(location) { backend in
        storage = backend.externalStorage
        reference = try storage.map { try write(chunks(1, last: 9), to: $0) }
        try storage?.synchronize()
      }
      guard let storage, let reference else { return }
      try expectError(.closed, "a closed backend") { _ = try storage.open(reference) }
      try expectError(.closed, "a closed backend") { _ = try storage.list() }
      try expectError(.closed, "a closed backend") { _ = try storage.create(.random()) }
    },
  ]

  private static func chunks(_ count: Int, last: Int) -> [[UInt8]] {
    (0..<count).map { number in
      Array(
        repeating: UInt8(number + 1), count: number == count - 1 ? last : ExternalChunks.size)
    }
  }

  private static func write(
    _ chunks: [[UInt8]], to storage: any ExternalStorage
  ) throws -> ExternalReference {
    let id = ExternalID.random()
    let output = try storage.create(id)
    for chunk in chunks { try output.append(chunk) }
    try output.finish()
    return ExternalReference(
      id: id, byteCount: chunks.reduce(0) { $0 + $1.count }, checksum: 0)
  }
}
