import Foundation
import RecordBrowsing
import StoredObjectsBrowser
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// Returns a session of a store in memory.
func memorySession(tracks: Int = 30, isWritable: Bool = true) throws -> BrowserSession {
  let backend = try MemoryBackend(disk: MemoryDisk())
  try fill(backend, tracks: tracks)
  return BrowserSession(
    LiveSource(backend), editor: isWritable ? StoreEditor(backend) : nil,
    options: .init(name: "Tested", format: "memory"))
}

@Suite("The server of the page")
struct ServerTests {
  private static let json = ["Content-Type: application/json"]

  @Test("The token of the URL becomes a cookie that only this server gets, and leaves the address")
  func entering() throws {
    try TestedServer.run { server, _ in
      let entered = try server.request("GET", "/?token=\(server.token)")
      #expect(entered.status == 303 && entered.header("Location") == "/")
      let cookie = try #require(entered.header("Set-Cookie"))
      #expect(cookie.hasPrefix(server.cookie))
      #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
      #expect(server.token.count == 32)
      let page = try server.request("GET", "/", cookie: server.cookie)
      #expect(page.status == 200 && page.text.contains("<main"))
    }
  }

  @Test("Every answer forbids scripts of others, guessing of types, frames and caches")
  func headers() throws {
    try TestedServer.run { server, _ in
      for (target, cookie) in [("/", server.cookie), ("/api/store", server.cookie), ("/", nil)] {
        let answer = try server.request("GET", target, cookie: cookie)
        let policy = try #require(answer.header("Content-Security-Policy"))
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self';"))
        #expect(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"))
        #expect(answer.header("X-Content-Type-Options") == "nosniff")
        #expect(answer.header("Cache-Control") == "no-store")
        #expect(answer.header("Access-Control-Allow-Origin") == nil)
      }
    }
  }

  @Test("Requests for other hosts are refused, even with the token")
  func foreignHosts() throws {
    try TestedServer.run { server, _ in
      let hosts = [
        "evil.example", "evil.example:\(server.port)", "127.0.0.1", "127.0.0.1:1",
        "127.0.0.1.evil.example:\(server.port)", "[::1]:\(server.port)", "0.0.0.0:\(server.port)",
        "127.0.0.1:\(server.port)@evil.example", "",
      ]
      for host in hosts {
        for target in ["/", "/api/store", "/?token=\(server.token)"] {
          let answer = try server.request("GET", target, host: host, cookie: server.cookie)
          #expect(answer.status == 403, "\(host) \(target)")
          #expect(!answer.text.contains("Band"))
        }
      }
      let local = try server.request(
        "GET", "/api/store", host: "localhost:\(server.port)", cookie: server.cookie)
      #expect(local.status == 200)
    }
  }

  @Test("Requests of other sites are refused, even with the token")
  func foreignOrigins() throws {
    try TestedServer.run { server, _ in
      let body = #"{"actions":[{"do":"insert","class":"Track"}],"confirm":["duplicate"]}"#
      for origin in [
        "http://evil.example", "null", "https://\(server.host)", "http://127.0.0.1:1",
        "http://\(server.host).evil.example",
      ] {
        let answer = try server.request(
          "POST", "/api/edit", cookie: server.cookie, origin: origin, headers: Self.json, body: body
        )
        #expect(answer.status == 403, "\(origin)")
        let read = try server.request(
          "GET", "/api/store", cookie: server.cookie, origin: origin)
        #expect(read.status == 403)
      }
      // Without an origin, nothing is changed either.
      let none = try server.request(
        "POST", "/api/edit", cookie: server.cookie, headers: Self.json, body: body)
      #expect(none.status == 403)
      let crossSite = try server.request(
        "GET", "/api/store", cookie: server.cookie, headers: ["Sec-Fetch-Site: cross-site"])
      #expect(crossSite.status == 403)
      let form = try server.request(
        "POST", "/api/edit", cookie: server.cookie, origin: server.origin,
        headers: ["Content-Type: text/plain"], body: body)
      #expect(form.status == 415)
      let own = try server.request(
        "POST", "/api/edit", cookie: server.cookie, origin: server.origin,
        headers: Self.json, body: body)
      #expect(own.status == 200)
    }
  }

  @Test("Requests without the token, or with another one, get nothing")
  func tokens() throws {
    try TestedServer.run { server, _ in
      let other = String(repeating: "0", count: 32)
      let name = "stored-objects-\(server.port)"
      let cookies = [
        nil, "", "\(name)=", "\(name)=\(other)", "\(name)=\(server.token.dropLast())",
        "\(name)=\(server.token)0", "other=\(server.token)", "\(name)=\(server.token)X",
      ]
      for cookie in cookies {
        for target in ["/", "/app.js", "/page.css", "/api/store", "/api/rows?class=Track"] {
          let answer = try server.request("GET", target, cookie: cookie)
          #expect(answer.status == 401, "\(cookie ?? "none") \(target)")
          #expect(!answer.text.contains("Track"))
        }
      }
      for target in ["/?token=", "/?token=\(other)", "/api/store?token=\(server.token)"] {
        #expect(try server.request("GET", target).status == 401)
      }
    }
  }

  @Test("There is nothing at other paths, and none leads to a file")
  func paths() throws {
    try TestedServer.run { server, _ in
      let targets = [
        "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd",
        "/api/../../etc/passwd", "/page.css/../../../etc/passwd", "/api/", "/api", "/api/none",
        "/app.js.map", "/\\..\\..\\etc", "/%00", "/page.html", "/.git/config",
      ]
      for target in targets {
        let answer = try server.request("GET", target, cookie: server.cookie)
        #expect(answer.status == 404 || answer.status == nil || answer.status == 200, "\(target)")
        #expect(!answer.text.contains("root:"), "\(target)")
        if answer.status == 200 { #expect(answer.text.contains("<!doctype html>")) }
      }
      for method in ["PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "BREW"] {
        let answer = try server.request(method, "/api/store", cookie: server.cookie)
        #expect(answer.status == 405 || answer.status == 404, "\(method)")
      }
    }
  }

  @Test("A body above the limit is refused, and the server goes on")
  func bodies() throws {
    try TestedServer.run { server, _ in
      let large = String(repeating: " ", count: 1 << 20)
      for body in [large + "{}", "{\"actions\":[]}", "", "[", "null", #"{"actions":[7]}"#] {
        let answer = try server.request(
          "POST", "/api/edit", cookie: server.cookie, origin: server.origin, headers: Self.json,
          body: body
        )
        #expect(answer.status == (body.utf8.count > 1 << 20 ? 413 : 400))
      }
      // Nested so deeply that a reader with recursion would end the program.
      let deep = String(repeating: "[", count: 500_000)
      let answer = try server.request(
        "POST", "/api/edit", cookie: server.cookie, origin: server.origin, headers: Self.json,
        body: deep)
      #expect(answer.status == 400)
      #expect(try server.request("GET", "/api/store", cookie: server.cookie).status == 200)
    }
  }

  @Test("A store that is open for reading refuses every change")
  func readOnly() throws {
    try TestedServer.run(isWritable: false) { server, _ in
      let body = #"{"actions":[{"do":"insert","class":"Track","values":{}}]}"#
      for path in ["edit", "undo", "redo"] {
        let answer = try server.request(
          "POST", "/api/\(path)", cookie: server.cookie, origin: server.origin,
          headers: Self.json, body: body)
        #expect(answer.status == 403)
      }
    }
  }

  @Test("Random requests end neither the server nor its secrecy")
  func fuzz() throws {
    var generator = Seeds.generator(for: "requests in random bytes")
    let requests = (0..<150).map { _ in RandomRequest.make(&generator) }
    try TestedServer.run { server, _ in
      for request in requests {
        let bytes = request(server)
        let answer = try server.send(bytes, seconds: 0.15)
        #expect(answer.status != 200 && answer.status != 303)
        #expect(!answer.text.contains("Band 0") && !answer.text.contains(server.token))
      }
      #expect(try server.request("GET", "/api/store", cookie: server.cookie).status == 200)
    }
  }

  @Test("Random parameters with the token get an answer in JSON")
  func fuzzedParameters() throws {
    var generator = Seeds.generator(for: "parameters of the page")
    let session = try memorySession()
    let paths = [
      "store", "rows", "object", "list", "text", "referrers", "search", "history", "commit",
      "health", "live", "edit", "undo", "redo",
    ]
    let texts = [
      "", "Track", "Band", "Track/2", "Track/0", "Band/99999999999", "seconds", "-seconds", "title",
      "-1", "9223372036854775807", "ff", "00", "0 0", "9 9", "title = \"\"\"", "((((",
      "not not not",
      "\u{202E}\u{0}", "*", "NOT", "\"", "18446744073709551616", "[1,2]", "items",
    ]
    let kinds = ["set", "add", "move", "remove", "insert", "delete", "?"]
    let names = [
      "class", "id", "property", "where", "sort", "cursor", "limit", "from", "q", "asOf", "before",
      "number",
    ]
    for _ in 0..<3000 {
      var call = APICall(path: paths[.random(in: paths.indices, using: &generator)])
      call.isPost = ["edit", "undo", "redo"].contains(call.path)
      for name in names where Int.random(in: 0...2, using: &generator) > 0 {
        call.query[name] = texts[.random(in: texts.indices, using: &generator)]
      }
      let kind = kinds[.random(in: kinds.indices, using: &generator)]
      let id = texts[.random(in: texts.indices, using: &generator)]
      let at = Int.random(in: -2...40, using: &generator)
      call.body = Array(
        """
        {"actions":[{"do":"\(kind)","id":"Track/2",\
        "property":"items","at":\(at),"from":\(at),"to":0,"reference":"Track/3","class":"Band",\
        "values":{"title":"\(id.filter { $0 != "\"" && $0 != "\0" })"}}]}
        """.utf8)
      let answer = session.respond(to: call)
      let value = try JSONSerialization.jsonObject(with: Data(answer.body))
      #expect(value is [String: Any])
      #expect([200, 400, 403, 404, 409, 500].contains(answer.status))
      if answer.status == 500 {
        // Only what a store reports, such as a query that can't be parsed.
        let code = (value as? [String: Any])?["kind"] as? String
        #expect(["invalidQuery", "historyExpired", "invalidArgument"].contains(code), "\(call)")
      }
    }
  }
}

/// Requests of random bytes, none of which has the token.
enum RandomRequest {
  static func make(
    _ generator: inout some RandomNumberGenerator
  ) -> (TestedServer) -> [UInt8] {
    let seed = UInt64.random(in: 0 ... .max, using: &generator)
    return { server in
      var generator = SeededGenerator(seed: seed)
      var text =
        "GET /api/store HTTP/1.1\r\nHost: \(server.host)\r\nCookie: \(server.cookie.dropLast())x\r\n"
        + "Content-Length: 4\r\n\r\nabcd"
      if seed % 5 == 0 { text = text.replacing("GET", with: "POST") }
      var bytes = Array(text.utf8)
      for _ in 0..<Int.random(in: 1...30, using: &generator) {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0...3, using: &generator) {
        case 0: bytes[index] = .random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(.random(in: 0...255, using: &generator), at: index)
        default: bytes.insert(contentsOf: bytes[index...].prefix(40), at: index)
        }
      }
      return bytes
    }
  }
}
