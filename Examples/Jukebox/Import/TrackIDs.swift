/// Gives every track of a file an ID of its own.
///
/// A file says it twice: as the key in Tracks and as the Track ID inside. When they differ, the
/// Track ID counts, for playlists refer to it. When two tracks claim the same one, it goes to the
/// track whose key says the same, and the other is known by its key.
struct TrackIDs {
  private var taken: Set<Int64> = []

  /// One ID for each track, in the order given; nil for a track that can have none.
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
