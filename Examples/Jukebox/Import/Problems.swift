/// What an import had to pass over, counted.
struct Problems: Equatable {
  /// Playlist items that name a track that is not in the file.
  var unknownTracks = 0
  /// Playlist items without a Track ID that can be read.
  var unreadableItems = 0
  /// Tracks without an ID, or with one that another track has.
  var tracksWithoutID = 0
  /// Tracks that are no dictionary.
  var unreadableTracks = 0
  /// Playlists that are no dictionary.
  var unreadablePlaylists = 0

  /// A line for each kind that occurred.
  var lines: [String] {
    [
      (unknownTracks, "no such track in the file", "playlist item"),
      (unreadableItems, "no Track ID that can be read", "playlist item"),
      (tracksWithoutID, "no Track ID, or one that another track has", "track"),
      (unreadableTracks, "not a dictionary", "track"),
      (unreadablePlaylists, "not a dictionary", "playlist"),
    ].compactMap { count, reason, noun in
      count == 0 ? nil : "Left out \(counted(count, noun)): \(reason)."
    }
  }
}
