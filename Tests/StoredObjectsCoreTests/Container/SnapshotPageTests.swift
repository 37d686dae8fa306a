import StoredObjectsCore
import Testing

@Suite("Pages of all objects in a container's reads")
struct SnapshotPageTests {
  private func page(_ container: StoreContainer, _ offset: Int) async throws -> [String] {
    try await container.read { store in
      try store.fetch(Song.self, limit: 10, offset: offset).map(\.title)
    }
  }

  @Test("Every page is right, the second time too, and after the next write")
  func pages() async throws {
    // One reader, which has the same store for all reads between two writes.
    let container = try StoreContainer(
      backend: MemoryBackend(), classes: [Song.self], readerCount: 1)
    try await container.write { store in
      for number in 0..<9000 { store.insert(Song("\(number)", 1)) }
    }
    var titles = (0..<9000).map { "\($0)" }
    for round in 0..<3 {
      for offset in [0, 10, 4095, 8000, 5000, 8995, 9000, 20_000, 8000] {
        let wanted = Array(titles.dropFirst(offset).prefix(10))
        #expect(try await page(container, offset) == wanted, "round \(round), offset \(offset)")
      }
      try await container.write { store in
        for song in try store.fetch(Song.self, limit: 3, offset: 4000) { store.delete(song) }
        store.insert(Song("new in \(round)", 1))
      }
      titles.removeSubrange(4000..<4003)
      titles.append("new in \(round)")
    }
  }
}
