/// The songs of the store, found by the properties that a library file has.
struct KnownSongs {
  /// The songs from library files, by Track ID.
  private var byTrackID: [Int64: Song] = [:]
  /// The songs from M3U playlists, by location.
  private var byLocation: [String: Song] = [:]
  /// The songs whose number this program has chosen.
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

  /// Returns the song for a track of a library file: the one with its ID, or one with its location
  /// from an M3U playlist.
  mutating func match(_ track: LibraryFile.Track) -> Song? {
    defer { giveUp(track.id) }
    if let song = byTrackID[track.id] { return song }
    guard let location = track.location,
      let song = byLocation.removeValue(forKey: Location.key(location))
    else { return nil }
    ownNumbers[song.number] = nil
    return song
  }

  /// Gives a number to the library, and another number to a song that this program has numbered.
  private mutating func giveUp(_ number: Int64) {
    numbering.take(number)
    if let song = ownNumbers.removeValue(forKey: number) {
      song.number = numbering.next()
      ownNumbers[song.number] = song
    }
  }
}
