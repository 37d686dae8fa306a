import Files
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Directories of pages")
struct PageDirectoryTests {
  /// Keys that differ in their first bytes, late, or by their length.
  private func keys(_ generator: inout SeededGenerator, shared: [UInt8]) -> [[UInt8]] {
    var keys: Set<[UInt8]> = []
    for number in 0..<6000 {
      var key = shared
      switch number % 4 {
      case 0: key += (0..<8).map { _ in UInt8.random(in: 0...3, using: &generator) }
      case 1: key += [1, 1, 1, 1, 1, 1, 1, 1, 1, UInt8(number >> 8), UInt8(number & 255)]
      case 2: key += [UInt8](repeating: 2, count: number % 300)
      default: key += [UInt8.random(in: 0...255, using: &generator), UInt8(number & 255)]
      }
      keys.insert(key)
    }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }

  private func bytes(of keys: [[UInt8]]) throws -> [UInt8] {
    // Two in a page, so that there are three levels.
    try MemorySink.file(
      keys.map { OrderedEntry(key: $0, value: [UInt8](repeating: 5, count: 1500)) })
  }

  private func isFound(_ key: [UInt8], _ file: OrderedFile) throws -> Bool {
    try key.lend { try file.withValue($0) { _ in true } ?? false }
  }

  @Test(
    "A directory leads to the same pages as the file",
    arguments: [[], [7, 7], Array("a long beginning of all keys".utf8)])
  func same(shared: [UInt8]) throws {
    var generator = Seeds.generator(for: "directories of pages, \(shared.count)")
    let keys = keys(&generator, shared: shared)
    let file = try OrderedFile(bytes: bytes(of: keys))
    let directory = try #require(try PageDirectory(file))
    #expect(file.footer.depth == 3 && directory.level == 0)
    var wanted = keys
    for key in keys.shuffled(using: &generator).prefix(2000) {
      wanted += [key + [0], Array(key.dropLast()), key.dropLast() + [255]]
    }
    wanted += [[], [0], [255], shared, shared + [255, 255], Array(shared.dropLast())]
    for key in wanted {
      let (found, expected) = try key.lend { key in
        // No directory is due yet.
        let plain = try OrderedFile(file.file, codec: nil)
        return (directory.page(for: key), try file.file.withBytes { try plain.leaf(for: key, $0) })
      }
      #expect(found.offset == expected.offset, "key \(key)")
    }
  }

  @Test("A limit lists a higher level, from which look-ups go on in the file")
  func limited() throws {
    var generator = Seeds.generator(for: "limited directories of pages")
    let file = try OrderedFile(bytes: bytes(of: keys(&generator, shared: [])))
    #expect(try PageDirectory(file, limit: 100_000)?.level == 1)
    #expect(try PageDirectory(file, limit: 100) == nil)
  }

  @Test("A file that is searched often gets a directory, and finds the same keys with it")
  func often() throws {
    var generator = Seeds.generator(for: "files that are searched often")
    let keys = keys(&generator, shared: [9])
    let file = try OrderedFile(bytes: bytes(of: keys))
    let all = Set(keys)
    for _ in 0..<2 {
      for key in keys {
        #expect(try isFound(key, file))
        // A random key may be this longer one.
        #expect(try isFound(key + [0, 1], file) == all.contains(key + [0, 1]))
      }
    }
    #expect(keys[0].lend { file.start(for: $0).level } == 0)
    for (index, key) in keys.enumerated() { #expect(try key.lend(file.rank) == index) }
    let part = KeyRange(from: keys[1000], to: keys[1100])
    #expect(try file.entries(part).map(\.key) == Array(keys[1000..<1100]))
  }

  @Test(
    "Threads that look up keys while the directory is made find the same", .timeLimit(.minutes(1)))
  func concurrent() async throws {
    var generator = Seeds.generator(for: "directories and threads")
    let keys = keys(&generator, shared: [9])
    let file = try OrderedFile(bytes: bytes(of: keys))
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<4 {
        group.addTask { keys.allSatisfy { (try? isFound($0, file)) == true } }
      }
      for await areFound in group { #expect(areFound) }
    }
    #expect(keys[0].lend { file.start(for: $0).level } == 0)
  }

  @Test("Separators that are not in order are left to the file, which trusts nothing")
  func unordered() throws {
    var file = OrderedFileFormat.magic
    var leaf = OrderedPageBuilder(level: 0)
    _ = [UInt8]([1]).lend { key in [UInt8]().lend { leaf.add(key, $0) } }
    let below = file.append(page: leaf.takePage())
    var value: [UInt8] = []
    value.append(littleEndian: UInt64(below.offset))
    value.append(littleEndian: UInt32(below.size))
    value.append(littleEndian: UInt64(0))
    var top = OrderedPageBuilder(level: 1)
    for key: [UInt8] in [[], [5], [3]] {
      _ = key.lend { key in value.lend { top.add(key, $0) } }
    }
    let root = file.append(page: top.takePage())
    let footer = OrderedFileFormat.Footer(
      depth: 2, root: .init(offset: root.offset, size: root.size, rank: 0), count: 1)
    file += footer.bytes(at: file.count, mark: nil)
    #expect(try PageDirectory(OrderedFile(bytes: file)) == nil)
  }
}
