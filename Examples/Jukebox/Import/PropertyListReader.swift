import Foundation

/// Reads a library as iTunes, and others after it, write it: a property list, XML or binary.
///
/// Fields of another type than they should have count as missing, and are kept as they are among
/// the attributes. So is every key that the model has no field for.
struct PropertyListReader {
  private var file = LibraryFile()
  private var knownTracks: Set<Int64> = []
  private var playlistsSeen: [Origin: UInt32] = [:]

  /// Reads a whole file.
  static func read(_ data: Data) throws -> LibraryFile {
    let top = try dictionary(data)
    guard let tracks = top["Tracks"] else {
      throw Failure("is a property list, but no music library: it has no Tracks")
    }
    guard let tracks = tracks as? [String: Any] else {
      throw Failure("is no music library that can be read: its Tracks are not a dictionary")
    }
    var reader = PropertyListReader()
    reader.readTracks(tracks)
    try reader.readPlaylists(top["Playlists"])
    let rest = top.filter { $0.key != "Tracks" && $0.key != "Playlists" }
    reader.file.attributes = Attributes(PropertyValue.dictionary(rest))
    return reader.file
  }

  private static func dictionary(_ data: Data) throws -> [String: Any] {
    guard !data.isEmpty else { throw Failure("is empty") }
    let value: Any
    do {
      value = try unsafe PropertyListSerialization.propertyList(
        from: data, options: [], format: nil)
    } catch {
      throw Failure("is no property list, or only a part of one\(reason(of: error))")
    }
    // Text of any kind passes as a property list in the style of the 1980s.
    guard let dictionary = value as? [String: Any] else {
      throw Failure("is no music library: that would be a property list with a dictionary")
    }
    return dictionary
  }

  private static func reason(of error: any Error) -> String {
    let reason = (error as NSError).userInfo["NSDebugDescription"] as? String
    return reason.map { " (\($0))" } ?? ""
  }
}

// MARK: - Tracks

extension PropertyListReader {
  private mutating func readTracks(_ tracks: [String: Any]) {
    var found: [(key: String, values: [String: PropertyValue])] = []
    for (key, track) in tracks {
      if let values = track as? [String: Any] {
        found.append((key, PropertyValue.dictionary(values)))
      } else {
        file.problems.unreadableTracks += 1
      }
    }
    found.sort { ($0.key.utf8.count, $0.key) < ($1.key.utf8.count, $1.key) }
    let ids = TrackIDs.assign(found.map { ($0.key, $0.values["Track ID"]?.id) })
    for (track, id) in zip(found, ids) { readTrack(track.values, id) }
    file.tracks.sort { $0.id < $1.id }
  }

  private mutating func readTrack(_ values: [String: PropertyValue], _ id: Int64?) {
    guard let id else { return file.problems.tracksWithoutID += 1 }
    knownTracks.insert(id)
    var rest = values
    rest["Track ID"] = nil
    var track = LibraryFile.Track(id: id)
    track.title = rest.takeString("Name")
    track.artist = rest.takeString("Artist")
    track.album = rest.takeString("Album")
    track.milliseconds = rest.takeInteger("Total Time")
    track.location = rest.takeString("Location")
    track.attributes = Attributes(rest)
    file.tracks.append(track)
  }
}

// MARK: - Playlists

extension PropertyListReader {
  private mutating func readPlaylists(_ playlists: Any?) throws {
    guard let playlists else { return }
    guard let playlists = playlists as? [Any] else {
      throw Failure("is no music library that can be read: its Playlists are not an array")
    }
    for playlist in playlists {
      if let values = playlist as? [String: Any] {
        readPlaylist(values)
      } else {
        file.problems.unreadablePlaylists += 1
      }
    }
  }

  private mutating func readPlaylist(_ parsed: [String: Any]) {
    var parsed = parsed
    let items = parsed["Playlist Items"] as? [Any] ?? []
    // An empty list stays among the attributes: whether it was there at all is not lost.
    if !items.isEmpty { parsed["Playlist Items"] = nil }
    var rest = PropertyValue.dictionary(parsed)
    let name = rest.takeString("Name")
    var playlist = LibraryFile.Playlist(origin: origin(rest["Playlist ID"]?.id, name), name: name)
    if rest["Playlist ID"]?.id != nil { rest["Playlist ID"] = nil }
    if case .string(let id) = rest[PersistentID.playlistKey] { playlist.persistentID = id }
    playlist.items = items.compactMap { trackID($0) }
    playlist.attributes = Attributes(rest)
    file.playlists.append(playlist)
  }

  private mutating func origin(_ id: Int64?, _ name: String?) -> Origin {
    let key = Origin(id, name, 0)
    playlistsSeen[key, default: 0] += 1
    return Origin(id, name, playlistsSeen[key, default: 1])
  }

  private mutating func trackID(_ item: Any) -> Int64? {
    let value = (item as? [String: Any])?["Track ID"].flatMap(PropertyValue.init(parsed:))
    guard let id = value?.id else {
      file.problems.unreadableItems += 1
      return nil
    }
    if knownTracks.contains(id) { return id }
    file.problems.unknownTracks += 1
    return nil
  }
}

extension Origin {
  fileprivate init(_ id: Int64?, _ name: String?, _ occurrence: UInt32) {
    if let id {
      self = .library(id: id, occurrence: occurrence)
    } else {
      self = .unnumbered(name: name ?? "", occurrence: occurrence)
    }
  }
}
