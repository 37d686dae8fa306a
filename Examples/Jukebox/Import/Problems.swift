/// The number of items that an import has left out, by reason.
struct Problems: Equatable {
  /// The number of playlist items whose track is not in the file.
  var unknownTracks = 0
  /// The number of playlist items without a valid Track ID.
  var unreadableItems = 0
  /// The number of tracks without an ID, or with the ID of another track.
  var tracksWithoutID = 0
  /// The number of tracks that are not dictionaries.
  var unreadableTracks = 0
  /// The number of playlists that are not dictionaries.
  var unreadablePlaylists = 0

  /// A line for each reason that occurred.
  var lines: [String] {
    [
      (unknownTracks, "no such track in the file", "playlist item"),
      (unreadableItems, "no valid Track ID", "playlist item"),
      (tracksWithoutID, "no Track ID, or that of another track", "track"),
      (unreadableTracks, "not a dictionary", "track"),
      (unreadablePlaylists, "not a dictionary", "playlist"),
    ].compactMap { count, reason, noun in
      count == 0 ? nil : "Left out \(counted(count, noun)): \(reason)."
    }
  }
}
