import FlyingSocks
import Foundation
import ProgramTesting
import Testing

/// A headless browser that a test operates, as a person would, by WebDriver.
struct WebDriver: Sendable {
  /// An answer of the browser that is an error.
  struct Failure: Error, CustomStringConvertible {
    let description: String

    /// Whether the page has replaced an element that was found.
    var isOfReplacedElement: Bool { description.hasPrefix("stale element reference") }
  }

  private let port: UInt16
  private let base: String

  /// Whether Chromium and its driver are installed.
  static let isInstalled = driverPath != nil && browserPath != nil
  static let reasonToSkip: Comment =
    "Chromium and chromedriver are not installed: ./dev setup tests installs them."

  private static let driverPath = path(["chromedriver"])
  private static let browserPath = path(["chromium", "chromium-browser", "google-chrome"])

  private static func path(_ names: [String]) -> String? {
    names.flatMap { ["/usr/bin/\($0)", "/usr/local/bin/\($0)", "/snap/bin/\($0)"] }
      .first(where: FileManager.default.isExecutableFile)
  }

  /// Runs a test in a new browser, which ends with it.
  static func run(
    width: Int = 1200, height: Int = 800, _ body: (WebDriver) throws -> Void
  ) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: driverPath ?? "")
    let port = try freePort()
    process.arguments = ["--port=\(port)"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer {
      // It may wait for its browser, and then takes no other signal.
      _ = kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    try waitUntilReady(port)
    let options: [String: Any] = [
      "args": [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--hide-scrollbars", "--window-size=\(width),\(height)",
      ], "binary": browserPath ?? "",
    ]
    let wanted: [String: Any] = [
      "browserName": "chrome", "goog:chromeOptions": options,
      "goog:loggingPrefs": ["browser": "ALL"],
    ]
    let session = try send(
      "POST", port, "/session", ["capabilities": ["alwaysMatch": wanted]])
    guard let id = (session as? [String: Any])?["sessionId"] as? String else {
      throw Failure(description: "The browser did not start: \(session)")
    }
    let driver = WebDriver(port: port, base: "/session/" + id)
    let result: Result<Void, any Error>
    do { result = .success(try body(driver)) } catch { result = .failure(error) }
    _ = try? send("DELETE", port, driver.base, nil)
    try result.get()
  }

  private static func freePort() throws -> UInt16 {
    let socket = try Socket(domain: Int32(sockaddr_in.family))
    defer { try? socket.close() }
    try socket.bind(to: .inet(ip4: "127.0.0.1", port: 0))
    guard case .ip4(_, let port) = try socket.sockname() else {
      throw Failure(description: "There is no free port.")
    }
    return port
  }

  private static func waitUntilReady(_ port: UInt16) throws {
    let end = ContinuousClock.now + .seconds(20)
    while true {
      do {
        _ = try send("GET", port, "/status", nil)
        return
      } catch {
        guard ContinuousClock.now < end else { throw error }
        Thread.sleep(forTimeInterval: 0.05)
      }
    }
  }

  private static func send(
    _ method: String, _ port: UInt16, _ path: String, _ body: [String: Any]?
  ) throws -> Any {
    let body = try body.map { try JSONSerialization.data(withJSONObject: $0) }
    let data = try PlainHTTP.json(method, path, body, to: port)
    let answer = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    let value = (answer as? [String: Any])?["value"] ?? NSNull()
    if let failure = value as? [String: Any], let error = failure["error"] as? String {
      throw Failure(description: "\(error): \(failure["message"] ?? "")")
    }
    return value
  }

  private func post(_ path: String, _ body: [String: Any]) throws -> Any {
    try Self.send("POST", port, base + path, body)
  }

  // MARK: Pages

  /// Opens an address.
  func open(_ url: String) throws { _ = try post("/url", ["url": url]) }

  /// Runs a script, the body of a function, and returns its result.
  @discardableResult
  func run(_ script: String, _ arguments: [String] = []) throws -> Any {
    try post("/execute/sync", ["script": script, "args": arguments])
  }

  func text(_ script: String, _ arguments: [String] = []) throws -> String {
    let value = try run(script, arguments)
    return value as? String ?? "\(value)"
  }

  func texts(_ script: String, _ arguments: [String] = []) throws -> [String] {
    try run(script, arguments) as? [String] ?? []
  }

  func number(_ script: String) throws -> Double {
    (try run(script) as? NSNumber)?.doubleValue ?? .nan
  }

  /// Waits until a script returns true.
  func wait(
    for script: String, _ arguments: [String] = [], seconds: Double = 15,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end {
      if (try run(script, arguments) as? NSNumber)?.boolValue == true { return }
      Thread.sleep(forTimeInterval: 0.025)
    }
    let page = try text("return document.body.innerText.slice(0, 600)")
    Issue.record("never true: \(script) \(arguments)\n\(page)", sourceLocation: sourceLocation)
  }

  /// Opens a view, and waits until it is there.
  ///
  /// The view before may be shown once more in the meantime.
  func show(_ hash: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let number = try number("return Number(document.body.dataset.ready ?? 0)")
    try run("location.hash = arguments[0]", [hash])
    try wait(
      for: """
        return Number(document.body.dataset.ready) > Number(arguments[0])
          && document.body.dataset.shown === (location.hash || '#/')
        """, ["\(number)"],
      sourceLocation: sourceLocation)
  }

  /// Does something, and waits until the view has been shown again.
  func shownAgain(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) throws {
    let number = try number("return Number(document.body.dataset.ready ?? 0)")
    try body()
    try wait(
      for: "return Number(document.body.dataset.ready) > Number(arguments[0])", ["\(number)"],
      sourceLocation: sourceLocation)
  }

  // MARK: Pointer and keys

  private func element(_ selector: String) throws -> String {
    let value = try post("/element", ["using": "css selector", "value": selector])
    guard let id = (value as? [String: String])?.values.first else {
      throw Failure(description: "There is no element \(selector).")
    }
    return id
  }

  /// Clicks an element, which has to be visible.
  ///
  /// If the page replaces it between the search and the click, the new one is clicked.
  func click(_ selector: String) throws {
    var attemptsLeft = 5
    while true {
      do {
        _ = try post("/element/\(element(selector))/click", [:])
        return
      } catch let failure as Failure where failure.isOfReplacedElement && attemptsLeft > 0 {
        attemptsLeft -= 1
      }
    }
  }

  /// Types keys, each a character or the code of a special key, while another one may be held.
  func type(_ keys: [String], holding modifier: String? = nil) throws {
    var actions: [[String: String]] = []
    if let modifier { actions.append(["type": "keyDown", "value": modifier]) }
    for key in keys {
      actions += [["type": "keyDown", "value": key], ["type": "keyUp", "value": key]]
    }
    if let modifier { actions.append(["type": "keyUp", "value": modifier]) }
    _ = try post(
      "/actions", ["actions": [["type": "key", "id": "keys", "actions": actions]]])
  }

  func type(_ text: String) throws { try type(text.map { String($0) }) }

  enum Key {
    static let enter = "\u{E007}", escape = "\u{E00C}", tab = "\u{E004}", alt = "\u{E00A}"
    static let down = "\u{E015}", up = "\u{E013}", control = "\u{E009}", home = "\u{E011}"
  }

  /// Drags the center of an element to that of another.
  func drag(_ selector: String, to target: String) throws {
    let script = """
      const box = document.querySelector(arguments[0]).getBoundingClientRect();
      return JSON.stringify([box.x + box.width / 2, box.y + box.height / 2].map(Math.round))
      """
    func point(_ selector: String) throws -> [Int] {
      let text = try text(script, [selector])
      return try JSONDecoder().decode([Int].self, from: Data(text.utf8))
    }
    let (from, to) = (try point(selector), try point(target))
    func move(_ point: [Int]) -> [String: Any] {
      ["type": "pointerMove", "duration": 60, "x": point[0], "y": point[1]]
    }
    let actions: [[String: Any]] = [
      move(from), ["type": "pointerDown", "button": 0],
      move([(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]), move(to),
      ["type": "pointerUp", "button": 0],
    ]
    let pointer: [String: Any] = ["type": "pointer", "id": "mouse", "actions": actions]
    _ = try post("/actions", ["actions": [pointer]])
  }

  // MARK: Window

  /// Opens another tab; returns a function that switches to a tab.
  func newTab() throws -> (first: String, second: String) {
    let first = try Self.send("GET", port, base + "/window", nil) as? String ?? ""
    let second = (try post("/window/new", ["type": "tab"]) as? [String: Any])?["handle"]
    return (first, second as? String ?? "")
  }

  func switchTo(_ tab: String) throws { _ = try post("/window", ["handle": tab]) }

  /// Sets the size of the window, and whether colors are dark.
  func emulate(width: Int, height: Int, isDark: Bool) throws {
    let size: [String: Any] = [
      "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600,
    ]
    try command("Emulation.setDeviceMetricsOverride", size)
    let scheme = ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
    try command("Emulation.setEmulatedMedia", ["features": [scheme]])
  }

  private func command(_ name: String, _ parameters: [String: Any]) throws {
    _ = try post("/goog/cdp/execute", ["cmd": name, "params": parameters])
  }

  /// Returns the complaints of the browser, such as errors of scripts, that a test does not expect.
  func complaints(except isExpected: (String) -> Bool = { _ in false }) throws -> [String] {
    let entries = try post("/se/log", ["type": "browser"]) as? [[String: Any]] ?? []
    return entries.compactMap { $0["message"] as? String }.filter { !isExpected($0) }
  }

  /// Writes a picture of the window to a file.
  func screenshot(_ path: String) throws {
    let text = try Self.send("GET", port, base + "/screenshot", nil) as? String ?? ""
    try Data(base64Encoded: text)?.write(to: URL(fileURLWithPath: path))
  }
}
