import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// Runs a test in a browser that shows what a server serves.
func withPage(
  _ server: TestedServer, _ body: (WebDriver) throws -> Void
) throws {
  try WebDriver.run { page in
    try page.open(server.url)
    try page.wait(for: "return Number(document.body?.dataset.ready ?? 0) > 0")
    try body(page)
  }
}

/// Runs a test in a browser that shows a filled store.
func withPage(
  isWritable: Bool = true, tracks: Int = 60,
  _ body: (WebDriver) throws -> Void,
  afterwards: (any StoreBackend) throws -> Void = { _ in }
) throws {
  try TestedServer.run(
    isWritable: isWritable, make: { try fill($0, tracks: tracks) },
    { server, _ in try withPage(server, body) }, afterwards: afterwards)
}

/// Waits until the list of a program has some items.
private func expect(
  _ page: WebDriver, _ items: [String], sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let script = listed.replacing("return ", with: "return JSON.stringify(") + ") === arguments[0]"
  let encoder = JSONEncoder()
  encoder.outputFormatting = .withoutEscapingSlashes
  let text = try String(decoding: encoder.encode(items), as: UTF8.self)
  try page.wait(for: script, [text], sourceLocation: sourceLocation)
}

private let heading = "return document.querySelector('h1').textContent"
private let focused = "return document.activeElement.textContent.trim()"
private let listed =
  "return [...document.querySelectorAll('[data-property=items] .list a')].map(a => a.textContent)"

@Suite(
  "The page in a browser", .serialized,
  .enabled(if: WebDriver.isInstalled, WebDriver.reasonToSkip))
struct PageTests {
  @Test("Every view is shown, without a complaint of the browser, and accessible in all forms")
  func views() throws {
    var number: UInt64 = 0
    let make = { (backend: any StoreBackend) throws in
      try backend.beginHistory()
      try fill(backend)
      number = backend.lastCommitNumber
    }
    try TestedServer.run(make: make) { server, _ in
      try withPage(server) { page in try views(page, number) }
    }
  }

  private func views(_ page: WebDriver, _ number: UInt64) throws {
    #expect(try page.text("return location.search + location.hash") == "")
    let views = [
      ("#/", "Tested"), ("#/c/Track", "Track"), ("#/c/Track?where=seconds+%3E+200", "Track"),
      ("#/c/Track?where=seconds+%3E+many", "Track"), ("#/o/Track/2", "Sun 0"),
      ("#/o/Program/2", "Program 0"), ("#/search?q=rain", "“rain”"), ("#/history", "History"),
      ("#/history/\(number)", "Commit \(number)"), ("#/model", "Model"),
      ("#/model/edit", "Model editor"), ("#/health", "Health"),
      ("#/live", "Live"), ("#/new/Track", "New Track"), ("#/c/None", "This can’t be shown"),
      ("#/o/Track/999", "Not found"), ("#/?asOf=\(number)", "Tested"),
    ]
    for (hash, title) in views {
      try page.emulate(width: 1200, height: 800, isDark: false)
      if hash == "#/" { try page.show("#/live") }
      try page.show(hash)
      #expect(try page.text(heading) == title)
      for (width, isDark) in [(1200, false), (1200, true), (375, false), (375, true)] {
        try page.emulate(width: width, height: 800, isDark: isDark)
        let faults = try page.texts(PageAudit.script)
        #expect(faults == [], "\(hash), \(width) wide, \(isDark ? "dark" : "light")")
      }
    }
    try page.emulate(width: 1200, height: 800, isDark: false)
    try page.show("#/health")
    try page.click("#check")
    try page.wait(for: "return document.body.innerText.includes('All is well')")
    let complaints = try page.complaints { $0.contains("404") || $0.contains("400") }
    #expect(complaints == [])
  }

  @Test("The live view shows the times of saves", arguments: [false, true])
  func saveTimes(_ isShared: Bool) throws {
    let times = "return document.getElementById('save-times').textContent"
    try withTemporaryDirectory { folder in
      var backend = try TestedBackend.tokyoCabinet.open(folder + "/Tested")
      try fill(backend)
      try backend.close()
      backend = try TestedBackend.tokyoCabinet.open(
        folder + "/Tested", sharing: isShared ? .processes : .exclusive)
      let table = try backend.table(named: "Track")
      try TestedServer.run([folder + "/Tested"]) { server in
        try withPage(server) { page in
          try page.show("#/live")
          let before = isShared ? "No saves in the last minute." : "When a program saves"
          #expect(try page.text(times).contains(before))
          try backend.commit { $0.delete(3, in: table) }
          try page.wait(for: times + ".includes('1 save in the last minute. Half took up to')")
          #expect(try page.texts(PageAudit.script) == [])
        }
      }
      try backend.close()
    }
  }

  @Test("Values are edited, lists reordered by buttons, keys and pointer, and all is undone")
  func editing() throws {
    try withPage { page in
      let commits = "return Number(document.getElementById('commit').textContent.slice(1))"
      let start = try page.number(commits)
      // A value.
      try page.show("#/o/Track/2")
      try page.click("[data-focus=edit-title]")
      try page.run("document.activeElement.value = ''")
      try page.type("Aurora")
      try page.shownAgain { try page.type([WebDriver.Key.enter]) }
      #expect(try page.text(heading) == "Aurora")
      // One that is not valid stays in its field.
      try page.click("[data-focus=edit-seconds]")
      try page.type("many")
      try page.type([WebDriver.Key.enter])
      try page.wait(
        for: "return document.getElementById('toast').innerText.includes('not a')")
      #expect(try page.text("return document.activeElement.value") == "many")
      try page.type([WebDriver.Key.escape])
      // A list.
      try page.show("#/o/Program/2")
      let before = try page.texts(listed)
      #expect(before.count == 8)
      try page.shownAgain {
        try page.click("[data-property=items] li[data-index='0'] [title='Move down']")
      }
      var expected = before
      expected.swapAt(0, 1)
      try expect(page, expected)
      try page.shownAgain {
        try page.run(
          "document.querySelector('[data-property=items] li[data-index=\"4\"] .handle').focus()")
        try page.type([WebDriver.Key.up], holding: WebDriver.Key.alt)
      }
      expected.swapAt(3, 4)
      try expect(page, expected)
      try page.shownAgain {
        try page.drag(
          "[data-property=items] li[data-index='6'] .handle",
          to: "[data-property=items] li[data-index='2'] .handle")
      }
      expected.insert(expected.remove(at: 6), at: 2)
      try expect(page, expected)
      try page.shownAgain {
        try page.click("[data-property=items] li[data-index='7'] [title='Remove']")
      }
      try page.click("#add-items")
      try page.type("3")
      try page.shownAgain { try page.type([WebDriver.Key.enter]) }
      #expect(try page.texts(listed).count == 8)
      // Undo all, by keys.
      try page.run("document.getElementById('main').focus()")
      for _ in 0..<6 {
        try page.shownAgain { try page.type(["z"], holding: WebDriver.Key.control) }
      }
      // The title, too.
      try expect(page, ["Sun 0 Track/2"] + before.dropFirst())
      try page.show("#/o/Track/2")
      #expect(try page.text(heading) == "Sun 0")
      #expect(try page.number("return document.getElementById('undo').disabled ? 1 : 0") == 1)
      #expect(try page.complaints { $0.contains("api/edit") } == [])
      #expect(try page.number(commits) == start + 12)
    } afterwards: { backend in
      let check = try browsedStore(backend).check()
      #expect(check.findings.isEmpty)
    }
  }

  @Test("An object is inserted and deleted, after a question about its references")
  func insertion() throws {
    try withPage { page in
      try page.show("#/new/Track")
      try page.click("#new-title")
      try page.type("Aurora")
      try page.type([WebDriver.Key.enter])
      // Its default would be the first number to repeat.
      try page.wait(
        for: "return document.querySelector('dialog')?.innerText.includes('the same value')")
      try page.shownAgain { try page.click("dialog .danger") }
      #expect(try page.text(heading) == "Aurora")
      try page.click("#delete")
      try page.shownAgain { try page.click("dialog .danger") }
      #expect(try page.text("return location.hash") == "#/c/Track")
      try page.show("#/o/Track/3")
      try page.click("#delete")
      try page.click("dialog .danger")
      try page.wait(
        for: "return document.querySelector('dialog')?.innerText.includes('They are cleared')")
      #expect(try page.texts(PageAudit.script) == [])
      try page.shownAgain { try page.click("dialog .danger") }
      try page.shownAgain { try page.click("#undo") }
      try page.show("#/o/Track/3")
      #expect(try page.text(heading) == "Rain 0")
    }
  }

  @Test("By keys alone, a person finds the program with a track, reorders it, and takes it back")
  func keyboardAlone() throws {
    try withPage { page in
      typealias Key = WebDriver.Key
      try page.type("/")
      #expect(try page.text("return document.activeElement.id") == "search")
      try page.type("program 1")
      try page.shownAgain { try page.type([Key.enter]) }
      try page.type([Key.tab, Key.tab])
      #expect(try page.text(focused).hasPrefix("Program 1"))
      try page.shownAgain { try page.type([Key.enter]) }
      #expect(try page.text(heading) == "Program 1")
      let before = try page.texts(listed)
      // The handle of the first track.
      var steps = 0
      while try page.text("return document.activeElement.dataset.focus ?? ''")
        != "handle-items-0", steps < 20
      {
        try page.type([Key.tab])
        steps += 1
      }
      #expect(steps < 20)
      try page.shownAgain { try page.type([Key.down], holding: Key.alt) }
      var expected = before
      expected.swapAt(0, 1)
      try expect(page, expected)
      // The focus follows the track.
      try page.wait(
        for: "return document.activeElement.dataset.focus === 'handle-items-1'")
      try page.shownAgain { try page.type(["z"], holding: Key.control) }
      try expect(page, before)
      // Tables.
      try page.shownAgain { try page.type("u") }
      #expect(try page.text(heading) == "Program")
      try page.type([Key.down, Key.down])
      #expect(try page.text(focused) == "4")
      try page.type([Key.home])
      #expect(try page.text(focused) == "2")
      try page.type("f")
      try page.type("title = none")
      try page.shownAgain { try page.type([Key.enter]) }
      #expect(
        try page.text("return document.getElementById('rows').innerText")
          .contains("No object satisfies the condition"))
      try page.type([Key.escape])
      try page.type("?")
      try page.wait(for: "return document.querySelector('dialog[open]') !== null")
      try page.type([Key.escape])
      try page.wait(for: "return document.querySelector('dialog[open]') === null")
    }
  }

  /// Clicks an element as soon as it is there; nothing can replace it in between.
  private func clickNow(_ selector: String, _ page: WebDriver) throws {
    try page.wait(
      for: "const node = document.querySelector(arguments[0]); node?.click(); return !!node",
      [selector])
  }

  @Test("Three clicks find the program with a track, one moves it, and one takes it back")
  func clicks() throws {
    try withPage { page in
      try page.click("#search")
      try page.type("sun 3")
      try page.shownAgain { try page.type([WebDriver.Key.enter]) }
      try page.shownAgain { try clickNow(".hits a", page) }
      #expect(try page.text(heading) == "Sun 3")
      let referrer = ".hits a[href*='o/Program/'], .list a[href*='o/Program/']"
      try page.shownAgain { try clickNow(referrer, page) }
      let before = try page.texts(listed)
      #expect(before.contains { $0.hasPrefix("Sun 3") })
      try page.shownAgain {
        try page.drag(
          "[data-property=items] li[data-index='0'] .handle",
          to: "[data-property=items] li[data-index='3'] .handle")
      }
      try page.wait(for: listed + ".length === 8")
      #expect(try page.texts(listed) != before)
      try page.shownAgain { try clickNow("#undo", page) }
      try expect(page, before)
    }
  }

  @Test("The back button, pages, orders and conditions are in the address")
  func navigation() throws {
    try withPage(isWritable: false, tracks: 250) { page in
      let rows = "return [...document.querySelectorAll('a.id')].map(a => a.textContent)"
      try page.show("#/c/Track")
      #expect(try page.texts(rows) == (2...101).map(String.init))
      try page.shownAgain { try page.click("#next") }
      #expect(try page.texts(rows) == (102...201).map(String.init))
      try page.shownAgain { try page.type("n") }
      #expect(try page.texts(rows) == (202...251).map(String.init))
      try page.shownAgain { try page.run("history.back()") }
      #expect(try page.texts(rows).first == "102")
      try page.shownAgain { try page.click("[data-focus=sort-seconds]") }
      #expect(
        try page.text("return document.querySelector('[aria-sort]').innerText") == "seconds")
      let seconds =
        "return [...document.querySelectorAll('tbody tr')].map(row => row.cells[3].textContent)"
      let sorted = try page.texts(seconds).compactMap { Int($0) }
      #expect(sorted.count == 100 && sorted == sorted.sorted() && sorted.first == 0)
      try page.shownAgain { try page.click("[data-focus=sort-seconds]") }
      #expect(try page.texts(seconds).first == "299")
      try page.open("about:blank")
      try page.run("history.back()")
      try page.wait(for: "return document.querySelector('[aria-sort=descending]') !== null")
    }
  }
}
