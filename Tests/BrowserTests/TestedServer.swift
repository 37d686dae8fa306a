import Foundation
import ProgramTesting
import StoredObjectsCore
import TestFiles
import TestedBackends

/// An answer to a request in raw bytes.
struct RawAnswer: Sendable {
  /// The status; nil if there was no answer.
  let status: Int?
  /// The whole answer.
  let text: String

  func header(_ name: String) -> String? {
    let head = text.components(separatedBy: "\r\n\r\n").first ?? ""
    let line = head.components(separatedBy: "\r\n").first {
      $0.lowercased().hasPrefix(name.lowercased() + ":")
    }
    return line?.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)
  }
}

/// The tool as the server of a page, in a process of its own.
///
/// Everything here waits without tasks, which other tests of this process may keep from running.
struct TestedServer {
  /// The URL that the tool prints.
  let url: String
  let port: UInt16
  let token: String

  var host: String { "127.0.0.1:\(port)" }
  var origin: String { "http://\(host)" }
  var cookie: String { "stored-objects-\(port)=\(token)" }

  /// Runs a test with the page of a store that a closure makes, and looks at the store afterwards.
  static func run(
    _ kind: TestedBackend = .tokyoCabinet, named name: String = "Tested", isWritable: Bool = true,
    make: (any StoreBackend) throws -> Void = { try fill($0) },
    _ body: (TestedServer, _ directory: String) throws -> Void,
    afterwards: (any StoreBackend) throws -> Void = { _ in }
  ) throws {
    try withTemporaryDirectory { folder in
      let directory = folder + "/" + name
      let backend = try kind.open(directory, durability: .none)
      try make(backend)
      try backend.close()
      try run([directory] + (isWritable ? ["--write"] : [])) { try body($0, directory) }
      let result = try kind.open(directory, lockTimeout: .seconds(10))
      try afterwards(result)
      try result.close()
    }
  }

  /// Runs a test with the page that the tool serves with some arguments.
  static func run(_ arguments: [String], _ body: (TestedServer) throws -> Void) throws {
    let process = Process()
    process.executableURL = try ProgramDirectory.executable("stored-objects")
    process.arguments = ["browse"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    let line = try firstLine(of: pipe.fileHandleForReading)
    guard let url = URL(string: line), let port = url.port, let query = url.query() else {
      throw WebDriver.Failure(description: "The tool printed no URL: \(line)")
    }
    try body(
      TestedServer(
        url: line, port: UInt16(port), token: String(query.dropFirst("token=".count))))
  }

  private static func firstLine(of output: FileHandle) throws -> String {
    var bytes = Data()
    while let part = try output.read(upToCount: 1), part.first != 0x0A, !part.isEmpty {
      bytes += part
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: Requests

  /// Sends a request with headers, which ends the connection.
  func request(
    _ method: String = "GET", _ target: String, host: String? = nil, cookie: String? = nil,
    origin: String? = nil, headers: [String] = [], body: String? = nil
  ) throws -> RawAnswer {
    var lines = ["\(method) \(target) HTTP/1.1", "Host: \(host ?? self.host)", "Connection: close"]
    lines += headers
    if let cookie { lines.append("Cookie: \(cookie)") }
    if let origin { lines.append("Origin: \(origin)") }
    if let body { lines.append("Content-Length: \(body.utf8.count)") }
    let head = lines.joined(separator: "\r\n") + "\r\n\r\n"
    return try send(Array((head + (body ?? "")).utf8))
  }

  /// Sends bytes, and reads until the answer is whole, the connection closed, or time is up.
  func send(_ bytes: [UInt8], seconds: Double = 20) throws -> RawAnswer {
    let received = try PlainHTTP.send(Data(bytes), to: port, seconds: seconds)
    let text = String(decoding: received, as: UTF8.self)
    let words = text.split(separator: " ", maxSplits: 2)
    return RawAnswer(status: words.count > 1 ? Int(words[1]) : nil, text: text)
  }
}
