/// The playlists of the store, found by the properties that a library file has.
struct KnownPlaylists {
  private var byOrigin: [Origin: Playlist] = [:]
  /// The playlists created by this program, by the persistent ID that an export writes.
  private var byPersistentID: [String: Playlist] = [:]
  /// The playlists whose number this program has chosen.
  private var ownNumbers: [Int64: Playlist] = [:]
  private var numbering: Numbering

  init(_ playlists: [Playlist]) throws {
    numbering = Numbering(used: playlists.lazy.map(\.number))
    for playlist in playlists {
      if playlist.origin.isLibrary {
        byOrigin[playlist.origin] = playlist
      } else if let id = try PersistentID.of(playlist.attributes) {
        byPersistentID[id] = playlist
      }
      if !playlist.origin.ownsNumber { ownNumbers[playlist.number] = playlist }
    }
  }

  /// Returns the playlist of the store for one of a library file; each one once.
  mutating func match(_ playlist: LibraryFile.Playlist) throws -> Playlist? {
    if let match = byOrigin.removeValue(forKey: playlist.origin) { return match }
    if let id = playlist.persistentID, let match = byPersistentID.removeValue(forKey: id) {
      return match
    }
    return exported(playlist).flatMap { byOrigin.removeValue(forKey: $0.origin) }
  }

  /// Returns the playlist of a library without Playlist IDs that our own export has numbered.
  private func exported(_ playlist: LibraryFile.Playlist) -> Playlist? {
    guard case .library(let id, 1) = playlist.origin, let match = ownNumbers[id],
      match.origin.isLibrary, match.name == playlist.name
    else { return nil }
    return match
  }

  /// Returns the number for a new playlist: that of the file, or an unused one.
  mutating func number(for origin: Origin) -> Int64 {
    guard case .library(let id, 1) = origin else {
      let number = numbering.next()
      return number
    }
    numbering.take(id)
    if let other = ownNumbers.removeValue(forKey: id) {
      other.number = numbering.next()
      ownNumbers[other.number] = other
    }
    return id
  }
}
