/// The playlists of the store, as an import of a library file recognises them.
struct KnownPlaylists {
  private var byOrigin: [Origin: Playlist] = [:]
  /// Those that were made here, by the persistent ID that they got: an export carries it.
  private var byPersistentID: [String: Playlist] = [:]
  /// Those whose number was given out here.
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

  /// The playlist that one of a library file is; each only once.
  mutating func match(_ playlist: LibraryFile.Playlist) throws -> Playlist? {
    if let match = byOrigin.removeValue(forKey: playlist.origin) { return match }
    if let id = playlist.persistentID, let match = byPersistentID.removeValue(forKey: id) {
      return match
    }
    return exported(playlist).flatMap { byOrigin.removeValue(forKey: $0.origin) }
  }

  /// The playlist of an odd library that our own export has given its number and name.
  private func exported(_ playlist: LibraryFile.Playlist) -> Playlist? {
    guard case .library(let id, 1) = playlist.origin, let match = ownNumbers[id],
      match.origin.isLibrary, match.name == playlist.name
    else { return nil }
    return match
  }

  /// The number for a new playlist: that of the file, or one that nothing has.
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
