import StoredObjects

/// Brings a library file into the store: what is there already is updated, the rest is inserted,
/// and what the file does not mention stays.
///
/// Nothing is saved here, unless it is asked for: the caller saves once, or not at all.
struct LibraryImporter {
  private let library: Library
  private let progress: ProgressBar
  private var report = ImportReport()
  private var batchCount: Int?
  /// The songs of the file, by their Track ID.
  private var songs: [Int64: Song] = [:]

  init(_ library: Library, progress: ProgressBar = .none) {
    self.library = library
    self.progress = progress
  }

  /// Imports a file and says what it did.
  ///
  /// With a count, it saves after every so many songs, so that others see them.
  mutating func run(
    _ file: LibraryFile, savingEvery batchCount: Int? = nil
  ) throws -> ImportReport {
    self.batchCount = batchCount
    report.problems = file.problems
    try importSongs(file.tracks)
    try importPlaylists(file)
    return report
  }
}

// MARK: - Songs

extension LibraryImporter {
  private mutating func importSongs(_ tracks: [LibraryFile.Track]) throws {
    var known = KnownSongs(try library.songs())
    progress.begin("Songs", count: tracks.count)
    for track in tracks {
      let match = known.match(track)
      let song = match ?? Song()
      let isChanged = song.update(from: track)
      if match == nil { library.store.insert(song) }
      songs[track.id] = song
      report.songs.add(isNew: match == nil, isChanged: isChanged)
      progress.advance()
      if let batchCount, songs.count % batchCount == 0 { try library.store.saveChanges() }
    }
  }
}

extension Song {
  /// Takes over what the file says; tells whether that was anything new.
  ///
  /// Only what differs is set, so that an import of what is known writes nothing.
  fileprivate func update(from track: LibraryFile.Track) -> Bool {
    let changes = [
      set(\.number, track.id), set(\.isFromLibrary, true), set(\.title, track.title),
      set(\.artist, track.artist), set(\.album, track.album),
      set(\.milliseconds, track.milliseconds), set(\.location, track.location),
      set(\.attributes, track.attributes),
    ]
    return changes.contains(true)
  }
}

// MARK: - Playlists

extension LibraryImporter {
  private mutating func importPlaylists(_ file: LibraryFile) throws {
    let before = try library.playlists()
    var known = try KnownPlaylists(before)
    var imported: [Playlist] = []
    progress.begin("Playlists", count: file.playlists.count)
    for playlist in file.playlists {
      imported.append(try importPlaylist(playlist, &known))
      progress.advance()
    }
    let mentioned = Set(imported)
    let others = before.filter { !mentioned.contains($0) }
    try library.setContents(imported + others, file.attributes)
  }

  private mutating func importPlaylist(
    _ playlist: LibraryFile.Playlist, _ known: inout KnownPlaylists
  ) throws -> Playlist {
    let match = try known.match(playlist)
    let object = match ?? Playlist()
    if match == nil {
      object.origin = playlist.origin
      object.number = known.number(for: playlist.origin)
      library.store.insert(object)
    }
    let items = playlist.items.compactMap { songs[$0] }
    let changes = [
      object.set(\.name, playlist.name), object.set(\.attributes, playlist.attributes),
      object.setSongs(items),
    ]
    report.playlists.add(isNew: match == nil, isChanged: changes.contains(true))
    report.items += items.count
    return object
  }
}
