/// The songs of the store, as an import recognises them.
struct KnownSongs {
  /// Those that a library file has brought, by their Track ID.
  private var byTrackID: [Int64: Song] = [:]
  /// Those that M3U playlists have brought, by their location.
  private var byLocation: [String: Song] = [:]
  /// Those whose number was given out here.
  private var ownNumbers: [Int64: Song] = [:]
  private var numbering: Numbering

  init(_ songs: [Song]) {
    numbering = Numbering(used: songs.lazy.map(\.number))
    for song in songs {
      if song.isFromLibrary {
        byTrackID[song.number] = song
      } else {
        ownNumbers[song.number] = song
        if let location = song.location { byLocation[Location.key(location)] = song }
      }
    }
  }

  /// The song that a track of a library file is: the one of its ID, or else one that an M3U
  /// playlist has brought from the same place.
  mutating func match(_ track: LibraryFile.Track) -> Song? {
    defer { giveUp(track.id) }
    if let song = byTrackID[track.id] { return song }
    guard let location = track.location,
      let song = byLocation.removeValue(forKey: Location.key(location))
    else { return nil }
    ownNumbers[song.number] = nil
    return song
  }

  /// A library's own ID goes before a number that was given out here.
  private mutating func giveUp(_ number: Int64) {
    numbering.take(number)
    if let song = ownNumbers.removeValue(forKey: number) {
      song.number = numbering.next()
      ownNumbers[song.number] = song
    }
  }
}
