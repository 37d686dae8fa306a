import Foundation

/// Reads a library in the format of iTunes: a property list, XML or binary.
///
/// A field of the wrong type counts as missing, and is kept unchanged in the attributes. Keys for
/// which the model has no field are kept there, too.
struct PropertyListReader {
  private var file = LibraryFile()
  private var knownTracks: Set<Int64> = []
  private var playlistsSeen: [Origin: UInt32] = [:]

  /// Reads a file.
  static func read(_ data: Data) throws -> LibraryFile {
    let top = try dictionary(data)
    guard let tracks = top["Tracks"] else {
      throw Failure("is a property list but not a music library: it has no Tracks")
    }
    guard let tracks = tracks as? [String: Any] else {
      throw Failure("is not a valid music library: its Tracks are not a dictionary")
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
      throw Failure("is not a property list, or only a part of one\(reason(of: error))")
    }
    // Plain text can be a valid property list in the old text format.
    guard let dictionary = value as? [String: Any] else {
      throw Failure("is not a music library: its property list is not a dictionary")
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
      throw Failure("is not a valid music library: its Playlists are not an array")
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
    // An empty list stays in the attributes, so that an export writes it again.
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
