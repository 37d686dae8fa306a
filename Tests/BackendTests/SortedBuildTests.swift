import Foundation
import Locks
import StoredObjectsTestSupport
import TestedBackends
import Testing

@testable import StoreEngine
@testable import StoredObjectsCore

/// A class that hears each time its text is taken for the index.
private final class Page: StoredObject {
  static let hook = Locked<(@Sendable () -> Void)?>(nil)
  @Content var text = ""
  @Content var remark: String?

  override class var fullTextAttributes: [FullTextAttribute] {
    [
      FullTextAttribute("text") { (page: Page) in
        hook.withLock { $0 }?()
        return page.text
      },
      FullTextAttribute("remark", \Page.remark),
    ]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(text)
    buffer.write(remark)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
    remark = try buffer.read()
  }
}

/// The same records before there was an index.
private final class PlainPage: StoredObject {
  @Content var text = ""
  @Content var remark: String?

  override class var storedName: String { Page.storedName }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(text)
    buffer.write(remark)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
    remark = try buffer.read()
  }
}

@Suite("Building full-text indexes in bounded memory", .serialized)
struct SortedBuildTests {
  private static let words = (0..<400).map { "word\($0 * 7919 % 1000)" }

  private func text(_ count: Int, _ random: inout SeededGenerator) -> String {
    (0..<count).map { _ in Self.words.randomElement(using: &random) ?? "" }.joined(separator: " ")
  }

  /// Pages without an index, some of them saved again or deleted: their file has an order of its
  /// own.
  private func makePages(_ location: any BackendLocation, _ count: Int) throws {
    var random = Seeds.generator(for: "pages to be indexed")
    let store = try location.openStore(of: PlainPage.self)
    var pages: [PlainPage] = []
    for number in 0..<count {
      let page = PlainPage()
      (page.text, page.remark) = (text(60, &random), number % 3 == 0 ? text(3, &random) : nil)
      store.insert(page)
      pages.append(page)
    }
    try store.saveChanges()
    for page in pages where page.rowID % 5 == 0 { store.delete(page) }
    for page in pages where page.rowID % 5 == 1 { page.text += " again and again" }
    try store.saveChanges()
    try store.backend.close()
  }

  /// A store whose indexes are made in small steps.
  private func open(_ location: any BackendLocation, stepBytes: Int) throws -> Store {
    let store = Store(
      backend: try location.open(readOnly: false), configuration: .init(indexingMemory: 1 << 10))
    try store.register(Page.self)
    store.classes[0].fullText?.sortedCount = 0
    store.classes[0].fullText?.stepBytes = stepBytes
    return store
  }

  private func directory(of location: any BackendLocation) -> String {
    (location as? DirectoryLocation)?.directory ?? ""
  }

  private func scratchFiles(_ directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory)
      .filter { $0.hasPrefix(ScratchFile.prefix) }
  }

  private func compare(_ store: Store) throws {
    let pages = try store.allObjects(of: Page.self)
    for word in Self.words.prefix(30) {
      let expected = pages.filter { page in
        (page.text + " " + (page.remark ?? "")).split(separator: " ").contains { $0 == word }
      }
      #expect(try store.searchCount(Page.self, .word(word)) == expected.count)
    }
    #expect(try store.check().findings == [])
  }

  @Test(
    "An index from several sorted files, merged in one step or several, is right",
    arguments: [TestedBackend.tokyoCabinet, .cdb, .encryptedTokyoCabinet], [1 << 30, 100_000])
  func sorted(_ kind: TestedBackend, _ stepBytes: Int) throws {
    try kind.withLocation { location in
      try makePages(location, 450)
      let store = try open(location, stepBytes: stepBytes)
      let most = SharedLock(0)
      let directory = directory(of: location)
      Page.hook.withLock { hook in
        hook = {
          let names = try? FileManager.default.contentsOfDirectory(atPath: directory)
          let count = names?.count { $0.hasPrefix(ScratchFile.prefix) } ?? 0
          most.withLock { $0 = max($0, count) }
        }
      }
      defer { Page.hook.withLock { $0 = nil } }
      var progress: [IntegrityProgress] = []
      try store.buildFullTextIndexes { progress.append($0) }
      #expect(progress.last.map { $0.completed == 360 && $0.total == 360 } == true)
      #expect(most.withLock { $0 } > 1)
      #expect(try scratchFiles(directory) == [])
      try compare(store)
      // Saves go on with it.
      for page in try store.allObjects(of: Page.self) where page.rowID % 7 == 0 {
        page.text = "other " + page.text
      }
      try store.saveChanges()
      try compare(store)
      try store.backend.close()
    }
  }

  @Test(
    "An index file from a backup is older than the store, and is built again",
    arguments: [TestedBackend.tokyoCabinet, .cdb, .encryptedTokyoCabinet])
  func broughtBack(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      try makePages(location, 100)
      let directory = directory(of: location)
      var indexes: [(path: String, bytes: Data)] = []
      for number in 0..<2 {
        let store = try open(location, stepBytes: 1 << 30)
        try store.buildFullTextIndexes(rebuildsExisting: true)
        if number == 1 { try compare(store) }
        let pages = try store.allObjects(of: Page.self)
        try store.backend.close()
        if number == 1 { continue }
        for name in try FileManager.default.contentsOfDirectory(atPath: directory)
        where name.hasSuffix(".index") {
          let path = directory + "/" + name
          indexes.append((path, try Data(contentsOf: URL(filePath: path))))
        }
        // The same number of pages, with other texts.
        let plain = try location.openStore(of: PlainPage.self)
        for page in pages {
          try plain.object(PlainPage.self, rowID: page.rowID)?.text = "other \(page.rowID)"
        }
        try plain.saveChanges()
        try plain.backend.close()
      }
      #expect(!indexes.isEmpty)
      for index in indexes { try index.bytes.write(to: URL(filePath: index.path)) }
      let store = try open(location, stepBytes: 1 << 30)
      #expect(try store.searchCount(Page.self, .word("other")) == 80)
      try compare(store)
      try store.backend.close()
    }
  }

  @Test(
    "Parts saved during the build are not built again, and temporary files are removed",
    arguments: [TestedBackend.tokyoCabinet, .cdb, .encryptedTokyoCabinet])
  func stopped(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      try makePages(location, 900)
      let directory = directory(of: location)
      let copy = directory + " stopped"
      let store = try open(location, stepBytes: 100_000)
      let count = SharedLock(0)
      Page.hook.withLock { hook in
        hook = {
          let number = count.withLock { count in
            count += 1
            return count
          }
          // As a process leaves it that is killed here.
          if number == 600 { try? FileManager.default.copyItem(atPath: directory, toPath: copy) }
        }
      }
      defer { Page.hook.withLock { $0 = nil } }
      try store.buildFullTextIndexes()
      try store.backend.close()

      if kind == .encryptedTokyoCabinet {
        for name in try scratchFiles(copy) {
          let data = try Data(contentsOf: URL(fileURLWithPath: copy + "/" + name))
          #expect(!data.isEmpty && data.range(of: Data([0, 0x77, 0, 0, 0])) == nil)
        }
      }
      let left = try DirectoryLocation(#require(kind.format), copy, key: kind.key)
      count.withLock { $0 = 1000 }
      let second = try open(left, stepBytes: 100_000)
      #expect(try scratchFiles(copy) == [])
      try second.buildFullTextIndexes()
      let made = count.withLock { $0 } - 1000
      #expect(made > 0 && made < 700)
      try compare(second)
      try second.backend.close()
    }
  }

  @Test("A changed temporary file is an error, and is not used for the index")
  func spoiltFile() throws {
    try TestedBackend.tokyoCabinet.withLocation { location in
      try makePages(location, 450)
      let directory = directory(of: location)
      let store = try open(location, stepBytes: 1 << 30)
      let isDone = SharedLock(false)
      Page.hook.withLock { hook in
        hook = {
          let path = directory + "/" + ScratchFile.prefix + "1"
          guard !isDone.withLock({ $0 }), FileManager.default.fileExists(atPath: path),
            let handle = FileHandle(forUpdatingAtPath: path)
          else { return }
          try? handle.seek(toOffset: 5000)
          try? handle.write(contentsOf: Data([1, 2, 3]))
          try? handle.close()
          isDone.withLock { $0 = true }
        }
      }
      defer { Page.hook.withLock { $0 = nil } }
      let error = #expect(throws: StoreError.self) { try store.buildFullTextIndexes() }
      #expect(error?.code == .ioError)
      #expect(try scratchFiles(directory) == [])
      #expect(isDone.withLock { $0 })
      Page.hook.withLock { $0 = nil }
      try store.buildFullTextIndexes()
      try compare(store)
      try store.backend.close()
    }
  }
}
