/// Assigns a unique ID to each track of a file.
///
/// A file has the ID twice: as the key in Tracks and as the Track ID of the track. If they differ,
/// the Track ID is used, because playlists refer to it. If two tracks have the same one, the track
/// with the same key gets it, and the other track gets its key.
struct TrackIDs {
  private var taken: Set<Int64> = []

  /// Returns the IDs of tracks, in the same order; nil for a track without an ID.
  static func assign(_ tracks: [(key: String, trackID: Int64?)]) -> [Int64?] {
    var ids = TrackIDs()
    var result = tracks.map { track in
      track.trackID == Int64(track.key) ? ids.take(track.trackID) : nil
    }
    for index in tracks.indices where result[index] == nil {
      result[index] = ids.take(tracks[index].trackID)
    }
    for index in tracks.indices where result[index] == nil {
      result[index] = ids.take(Int64(tracks[index].key))
    }
    return result
  }

  private mutating func take(_ id: Int64?) -> Int64? {
    guard let id, taken.insert(id).inserted else { return nil }
    return id
  }
}
