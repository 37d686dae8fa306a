import AsyncHTTPClient
import Foundation
import NIOCore
import Testing

@testable import JukeboxService

/// A process of the server, with a client.
final class ServerProcess: Sendable {
  private let process: Process
  private let client: HTTPClient
  private let address: String

  /// Starts the server on a store and waits until it listens.
  ///
  /// - Parameter store: A directory, or the URL of a store on PostgreSQL.
  /// - Throws: An error if the server ends.
  init(_ store: String) throws {
    process = Process()
    process.executableURL = try Self.executable("jukebox-server")
    process.arguments = [store, "--port", "0"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    var line = Data()
    while line.last != UInt8(ascii: "\n") {
      let bytes = pipe.fileHandleForReading.availableData
      try #require(!bytes.isEmpty, "The server ended.")
      line += bytes
    }
    let words = String(decoding: line, as: UTF8.self).split { $0 == " " || $0 == "\n" }
    address = "http://127.0.0.1:\(try #require(words.last))"
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
    client = HTTPClient(configuration: configuration)
  }

  /// Kills the process.
  func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

  /// Asks the server to end.
  func terminate() { process.terminate() }

  /// Waits for the end of the process.
  ///
  /// - Returns: The exit status; nil if a signal ended the process.
  func waitForEnd() async throws -> Int32? {
    try await client.shutdown()
    while process.isRunning { try await Task.sleep(for: .milliseconds(5)) }
    return process.terminationReason == .exit ? process.terminationStatus : nil
  }

  /// Sends a request and returns the head of the answer.
  func open(_ method: String, _ path: String, _ body: Data? = nil) async throws
    -> HTTPClientResponse
  {
    var request = HTTPClientRequest(url: address + path)
    request.method = .init(rawValue: method)
    request.headers.add(name: "Content-Type", value: "application/json")
    if let body { request.body = .bytes(body) }
    return try await client.execute(request, timeout: .seconds(60))
  }

  /// Sends a request and returns the status after the whole answer.
  func status(_ method: String, _ path: String, _ body: Data? = nil) async throws -> Int {
    let response = try await open(method, path, body)
    _ = try await response.body.collect(upTo: 1 << 24)
    return Int(response.status.code)
  }

  /// Sends a request and expects a status.
  func expect(
    _ status: Int, _ method: String, _ path: String, at place: SourceLocation = #_sourceLocation
  ) async throws {
    let answer = try await self.status(method, path)
    #expect(answer == status, "\(method) \(path)", sourceLocation: place)
  }

  func get<Answer: Decodable>(_ path: String, as type: Answer.Type = Answer.self) async throws
    -> Answer
  {
    try await send("GET", path, nil, as: type)
  }

  /// Sends a request and decodes the answer.
  func send<Answer: Decodable>(
    _ method: String, _ path: String, _ body: Data?, as: Answer.Type = Answer.self
  ) async throws -> Answer {
    let response = try await open(method, path, body)
    try #require(response.status == .ok)
    let body = try await response.body.collect(upTo: 1 << 24)
    return try JSONDecoder().decode(Answer.self, from: Data(buffer: body))
  }

  func addSongs(_ count: Int) async throws {
    let songs = (0..<count).map { number in
      NewSong(title: "Song \(number)", artist: "Artist \(number % 7)", album: nil, seconds: 60)
    }
    #expect(try await status("POST", "/songs", try JSONEncoder().encode(songs)) == 200)
  }

  /// Returns the path of a built program, next to or above the test bundle.
  private static func executable(_ name: String) throws -> URL {
    var folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    while folder.path != "/" {
      let program = folder.appending(path: name)
      if FileManager.default.isExecutableFile(atPath: program.path) { return program }
      folder.deleteLastPathComponent()
    }
    throw CocoaError(.fileNoSuchFile)
  }
}

/// Runs a test with the path of a temporary directory.
func withDirectory(_ body: (String) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  try await body(folder.appending(path: "Music").path)
}
