import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import StoredObjects
import Testing

@testable import JukeboxService

/// Runs a test with a service in memory.
func withService(
  _ body: @Sendable (any TestClientProtocol, JukeboxService) async throws -> Void
) async throws {
  let service = try await JukeboxService(backend: MemoryBackend(), logger: Logger(label: "test"))
  try await Application(router: service.router()).test(.router) { try await body($0, service) }
}

extension TestClientProtocol {
  func send<Answer: Decodable>(
    _ method: HTTPRequest.Method, _ uri: String, _ body: (any Encodable & Sendable)? = nil,
    as type: Answer.Type = Answer.self
  ) async throws -> Answer {
    try await execute(uri: uri, method: method, headers: .json, body: json(body)) { response in
      try #require(response.status.kind == .successful, "\(response.status)")
      return try JSONDecoder().decode(Answer.self, from: Data(buffer: response.body))
    }
  }

  /// Sends a request and expects a status.
  func expect(
    _ status: Int, _ method: HTTPRequest.Method, _ uri: String,
    _ body: (any Encodable & Sendable)? = nil, at place: SourceLocation = #_sourceLocation
  ) async throws {
    let answer = try await execute(
      uri: uri, method: method, headers: .json, body: json(body)
    ) { $0.status.code }
    #expect(answer == status, "\(method) \(uri)", sourceLocation: place)
  }

  /// Returns a song; nil if it does not exist.
  func song(_ id: UInt32) async throws -> SongAnswer? {
    try await execute(uri: "/songs/\(id)", method: .get) { response in
      if response.status == .notFound { return nil }
      try #require(response.status == .ok)
      return try JSONDecoder().decode(SongAnswer.self, from: Data(buffer: response.body))
    }
  }

  func addSongs(_ count: Int) async throws {
    let songs = (0..<count).map { number in
      NewSong(title: "Song \(number)", artist: "Artist \(number % 7)", album: nil, seconds: 60)
    }
    let answer: ImportAnswer = try await send(.post, "/songs", songs)
    #expect(answer.count == count)
  }

  /// Adds the first songs of the store and returns their rows.
  func addedSongs(_ count: Int) async throws -> [UInt32] {
    try await addSongs(count)
    let songs: [SongAnswer] = try await send(.get, "/songs?limit=\(count)")
    #expect(songs.count == count)
    return songs.map(\.id)
  }
}

private func json(_ body: (any Encodable & Sendable)?) throws -> ByteBuffer? {
  try body.map { ByteBuffer(data: try JSONEncoder().encode($0)) }
}

extension HTTPFields {
  fileprivate static let json: HTTPFields = [.contentType: "application/json"]
}
