import StoredObjects

/// Imports a library file into the store.
///
/// Existing songs and playlists are updated, new ones are inserted, and those that the file does
/// not have stay. The caller saves, unless it passes a count to ``run(_:savingEvery:)``.
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

  /// Imports a file and returns a report.
  ///
  /// With a count, it saves each time after so many songs, so that other stores see them.
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
  /// Sets the properties from a track, and returns whether any of them has changed.
  ///
  /// Equal properties are not set, so an import without changes writes nothing.
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
