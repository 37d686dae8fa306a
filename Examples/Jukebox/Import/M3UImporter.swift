import StoredObjects

/// Brings an M3U playlist into the store.
///
/// A song is recognised by its location. Importing the playlist again replaces its list.
///
/// A song that a library file has brought is left as it is: the library knows more of it.
struct M3UImporter {
  private let library: Library
  private let progress: ProgressBar
  private var report = ImportReport()
  private var songs: [String: Song] = [:]
  private var touched: Set<Song> = []
  private var numbering: Numbering

  init(_ library: Library, progress: ProgressBar = .none) throws {
    self.library = library
    self.progress = progress
    let known = try library.songs()
    numbering = Numbering(used: known.lazy.map(\.number))
    for song in known {
      guard let location = song.location else { continue }
      let key = Location.key(location)
      // Of two songs with the same location, the first one is used.
      if songs[key] == nil { songs[key] = song }
    }
  }

  /// Imports a file and returns a report.
  mutating func run(_ file: PlaylistFile) throws -> ImportReport {
    progress.begin("Songs", count: file.entries.count)
    let list = file.entries.map { entry in
      defer { progress.advance() }
      return song(entry)
    }
    let (playlist, isNew) = try playlist(file.name)
    let isChanged = playlist.setSongs(list)
    report.playlists.add(isNew: isNew, isChanged: isChanged)
    report.items = list.count
    return report
  }

  private mutating func song(_ entry: PlaylistFile.Entry) -> Song {
    let key = Location.key(entry.location)
    let match = songs[key]
    let song = match ?? newSong(entry)
    songs[key] = song
    // Only the first entry of a song sets its properties.
    guard touched.insert(song).inserted else { return song }
    let isChanged = !song.isFromLibrary && song.update(from: entry)
    report.songs.add(isNew: match == nil, isChanged: isChanged)
    return song
  }

  private mutating func newSong(_ entry: PlaylistFile.Entry) -> Song {
    let song = Song()
    song.number = numbering.next()
    song.location = entry.location
    library.store.insert(song)
    return song
  }

  private func playlist(_ name: String) throws -> (Playlist, isNew: Bool) {
    let playlists = try library.playlists()
    let origin = Origin.playlistFile(name: name)
    if let known = playlists.first(where: { $0.origin == origin }) { return (known, false) }
    return (try library.makePlaylist(name, origin), true)
  }
}

extension Song {
  fileprivate func update(from entry: PlaylistFile.Entry) -> Bool {
    let changes = [
      set(\.title, entry.title), set(\.artist, entry.artist),
      set(\.milliseconds, entry.milliseconds),
    ]
    return changes.contains(true)
  }
}
