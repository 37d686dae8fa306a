extension Library {
  /// Adds an empty playlist at the end of the library.
  func makePlaylist(_ name: String, _ origin: Origin) throws -> Playlist {
    var numbering = Numbering(used: try playlists().lazy.map(\.number))
    let playlist = Playlist()
    playlist.name = name
    playlist.origin = origin
    playlist.number = numbering.next()
    // An import of our own export finds the playlist by this ID.
    playlist.attributes = Attributes([PersistentID.playlistKey: .string(PersistentID.make())])
    try append(playlist)
    return playlist
  }
}
