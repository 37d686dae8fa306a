import Hummingbird
import StoredObjects

extension JukeboxService {
  /// Returns the most played artists, from the keys of an index and without reading songs.
  func topArtists(_ limit: Int) async throws -> [ArtistAnswer] {
    guard limit >= 0 else { throw HTTPError(.badRequest) }
    let artists = try await container.read { store in
      try store.groups(of: Song.self, by: \.artist, summing: \.playCount).map { group in
        ArtistAnswer(
          artist: group.value, songCount: group.count, playCount: Int(group.numbers.sum))
      }
    }
    let sorted = artists.sorted { ($0.playCount, $1.artist) > ($1.playCount, $0.artist) }
    return Array(sorted.prefix(limit))
  }
}
