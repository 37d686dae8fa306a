import Foundation
import RecordBrowsing
import StoredObjectsBrowser
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite(
  "Hostile data, other writers and large stores in a browser", .serialized,
  .enabled(if: WebDriver.isInstalled, WebDriver.reasonToSkip))
struct PageContentTests {
  /// Texts that would run a script, end an element, or hide what they are.
  private static let hostile = [
    "<script>window.hacked = true</script>", "<img src=x onerror='window.hacked = true'>",
    "\"><svg onload=window.hacked=true>", "javascript:window.hacked=true",
    "'; window.hacked = true; //", "&lt;b&gt; </td></table></main></body>", "{{7*7}}",
    "abc\u{202E}txt.exe", "a\u{0}b\u{7}c\u{1B}[31m", "line\u{2028}line",
    "\u{200B}\u{FEFF}invisible",
    "#/o/Track/2", "%2e%2e%2f", "🧑‍🚀 e\u{301} \u{1F1E9}\u{1F1EA}",
  ]

  @Test("Scripts in texts do not run, and invisible characters are shown")
  func hostileTexts() throws {
    var rows = (large: 0 as UInt32, damaged: 0 as UInt32)
    let make = { (backend: any StoreBackend) throws in rows = try Self.fillHostile(backend) }
    // A directory can have such a name, too.
    try TestedServer.run(named: "<img src=x onerror=hacked=1>", make: make) { server, _ in
      try withPage(server) { page in try look(at: page, rows.large, rows.damaged) }
    }
  }

  private static func fillHostile(
    _ backend: any StoreBackend
  ) throws -> (large: UInt32, damaged: UInt32) {
    let store = try browsedStore(backend)
    let band = Band()
    band.name = hostile[0]
    store.insert(band)
    for text in hostile {
      let track = Track()
      (track.title, track.remark) = (text, text + text)
      store.insert(track)
      track.band = band
    }
    // A class without indexes, which would take long to build in a debug build.
    let large = Program()
    large.title = String(repeating: "<b>0123456789</b>\u{202E}", count: 500_000)
    store.insert(large)
    let damaged = Track()
    store.insert(damaged)
    try store.saveChanges()
    var changes = ChangeSet()
    changes.bytes = Array("<script>window.hacked=true</script>".utf8)
    let change = ChangeSet.RecordChange(
      kind: .update, rowID: damaged.rowID, range: 0..<changes.bytes.count)
    changes.tables = [.init(table: try backend.table(named: "Track"), records: [change])]
    try backend.commit(changes)
    return (large.rowID, damaged.rowID)
  }

  private func look(at page: WebDriver, _ largeRow: UInt32, _ damagedRow: UInt32) throws {
    let isHacked = "return window.hacked === true ? 1 : 0"
    let views = ["c/Track", "c/Band", "o/Band/2", "search?q=%3Cimg", "model", "new/Track"]
    for hash in views.map({ "#/" + $0 }) {
      try page.show(hash)
      #expect(try page.texts(PageAudit.script) == [], "\(hash)")
    }
    for (index, text) in Self.hostile.enumerated() {
      try page.show("#/o/Track/\(index + 2)")
      let shown = try page.text(
        """
        const copy = document.querySelector('[data-property=title] bdi').cloneNode(true);
        copy.querySelectorAll('.ctl').forEach(node => node.replaceWith(
          String.fromCodePoint(parseInt(node.title.slice(2), 16))));
        return copy.textContent
        """)
      #expect(shown == text)
      #expect(try page.number(isHacked) == 0)
    }
    try page.show("#/o/Track/9")
    #expect(
      try page.text("return document.querySelector('[data-property=title] .ctl').innerText")
        == "U+202E")
    // A text of 10 MB is cut, and comes in parts.
    let start = ContinuousClock.now
    try page.show("#/o/Program/\(largeRow)")
    try page.click("[data-focus=more-title]")
    try page.wait(
      for: "return document.querySelector('[data-property=title]').textContent.length > 200000")
    #expect(ContinuousClock.now - start < .seconds(10))
    // A damaged record is shown as what it is.
    try page.show("#/c/Track")
    #expect(try page.number("return document.querySelectorAll('td .damaged').length") == 1)
    try page.show("#/o/Track/\(damagedRow)")
    let alert = try page.text("return document.querySelector('[role=alert]').textContent")
    #expect(alert.contains("checksum"))
    try page.show("#/c/Track?where=%3Cscript%3E")
    #expect(try page.number("return document.querySelectorAll('[role=alert]').length") == 1)
    #expect(try page.number(isHacked) == 0)
    let complaints = try page.complaints { $0.contains("status of") }
    #expect(complaints == [])
  }

  @Test("Two tabs and a writing program see each other's saves, and no edit is lost")
  func concurrentWriters() throws {
    try withTemporaryDirectory { folder in
      let directory = folder + "/store"
      let writer = try TestedBackend.tokyoCabinet.open(directory, sharing: .processes)
      try fill(writer)
      try TestedServer.run([directory, "--write"]) { server in
        try withPage(server) { page in try write(beside: page, server, writer) }
      }
      let store = try browsedStore(writer)
      #expect(try #require(try store.object(Track.self, rowID: 2)).title == "Mine")
      #expect(try store.check().findings.isEmpty)
      try writer.close()
    }
  }

  private func write(
    beside page: WebDriver, _ server: TestedServer, _ writer: any StoreBackend
  ) throws {
    try page.show("#/o/Track/2")
    let (first, second) = try page.newTab()
    try page.switchTo(second)
    try page.open("http://\(server.host)/#/o/Track/2")
    try page.wait(for: "return document.querySelector('h1')?.textContent === 'Sun 0'")
    // The program saves; the tab follows.
    let store = try browsedStore(writer)
    try #require(try store.object(Track.self, rowID: 2)).title = "Theirs"
    try store.saveChanges()
    try page.wait(for: "return document.querySelector('h1')?.textContent === 'Theirs'")
    // While the second tab edits, the program saves again.
    try page.click("[data-focus=edit-title]")
    try #require(try store.object(Track.self, rowID: 2)).title = "Theirs again"
    try store.saveChanges()
    try page.run("document.activeElement.value = 'Mine'")
    try page.shownAgain { try page.type([WebDriver.Key.enter]) }
    let notice = try page.text("return document.querySelector('.notice').innerText")
    #expect(notice.contains("has changed") && notice.contains("You had typed: Mine"))
    let heading = "return document.querySelector('h1').textContent"
    #expect(try page.text(heading) == "Theirs again")
    // Again, on the new values; the first tab follows.
    try page.click("[data-focus=edit-title]")
    try page.run("document.activeElement.value = 'Mine'")
    try page.shownAgain { try page.type([WebDriver.Key.enter]) }
    #expect(try page.text(heading) == "Mine")
    try page.switchTo(first)
    try page.wait(for: "return document.querySelector('h1')?.textContent === 'Mine'")
  }

  @Test("A page of a large class comes in time")
  func timing() throws {
    let environment = ProcessInfo.processInfo.environment
    // In a build without optimizations, a smaller store has the same time.
    let count = environment["STOREDOBJECTS_BROWSED_COUNT"].flatMap { Int($0) } ?? 20_000
    let isFull = count >= 1_000_000
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try LargeStore.make(count, in: directory + "/store")
    let source = PolledSource(directory + "/store") { () throws(StoreError) in
      try StoreError.wrapped {
        try TestedBackend.tokyoCabinet.open(directory + "/store", readOnly: true)
      }
    }
    let session = BrowserSession(
      source, editor: nil, options: .init(name: "Large", format: "tokyo-cabinet"))
    let limits = isFull ? (first: 0.3, page: 0.1) : (first: 3, page: 1.5)
    var times: [String] = []
    func measure(_ name: String, _ limit: Double, _ call: APICall) throws {
      let start = ContinuousClock.now
      #expect(session.respond(to: call).status == 200)
      let time = (ContinuousClock.now - start) / .seconds(1)
      times.append("\(name) \(Int(time * 1000)) ms")
      #expect(time < limit, "\(name) took \(time) s")
    }
    try measure("first view", limits.first, APICall(path: "store"))
    for (name, query) in [
      ("rows", [:]), ("last rows", ["sort": "-id"]), ("sorted", ["sort": "title"]),
      ("sorted backwards", ["sort": "-number"]),
      ("found", ["where": "number >= \(count / 2) and number < \(count / 2 + 50)"]),
      ("middle", ["cursor": "\(count / 2)"]),
    ] {
      let call = APICall(
        path: "rows", query: query.merging(["class": "Numbered"]) { first, _ in first })
      try measure(name, limits.page, call)
      try measure(name + " again", limits.page, call)
    }
    session.close()
    try TestedServer.run([directory + "/store"]) { server in
      try withPage(server) { page in
        let start = ContinuousClock.now
        try page.show("#/c/Numbered?sort=-title")
        let time = (ContinuousClock.now - start) / .seconds(1)
        print("\(count) objects: \(times.joined(separator: ", ")); in the browser \(time) s")
        #expect(time < 5)
        #expect(try page.number("return document.querySelectorAll('tbody tr').length") == 100)
      }
    }
  }
}

/// A class for stores with many objects.
final class Numbered: StoredObject {
  @Content var number = 0
  @Content var title = ""

  override class var layout: ClassLayout? {
    ClassLayout(
      Numbered.self,
      [StoredProperty("number", Int.self), StoredProperty("title", String.self)])
  }
  override class var indexes: [AttributeIndex] {
    [AttributeIndex("number", \Numbered.number), AttributeIndex("title", \Numbered.title)]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(Int64(number))
    buffer.write(title)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    number = Int(try buffer.readInt64())
    title = try buffer.readString()
  }
}

enum LargeStore {
  /// Makes a store with many objects, in files.
  static func make(_ count: Int, in directory: String) throws {
    let backend = try TestedBackend.tokyoCabinet.open(directory, durability: .none)
    let store = Store(backend: backend)
    try store.register(Numbered.self)
    for start in stride(from: 0, to: count, by: 50_000) {
      for number in start..<min(count, start + 50_000) {
        let object = Numbered()
        object.number = number
        object.title = "Title \((number &* 7919) % count)"
        store.insert(object)
      }
      try store.saveChanges()
    }
    try backend.checkpoint()
    try backend.close()
  }
}

extension StoreError {
  /// Runs a closure whose errors are those of stores.
  static func wrapped<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
    do { return try body() } catch let error as StoreError { throw error } catch {
      throw StoreError(.ioError, "\(error)")
    }
  }
}
