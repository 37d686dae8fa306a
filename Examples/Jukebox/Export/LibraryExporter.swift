import Foundation
import StoredObjects

/// Turns the store back into a library file: the fields of the model over the attributes that the
/// file came with.
struct LibraryExporter {
  private let library: Library

  init(_ library: Library) { self.library = library }

  /// The library as an XML property list.
  func propertyList() throws -> Data {
    var attributes = try library.attributes().values()
    if attributes.isEmpty { attributes = Self.header }
    var top = PropertyValue.propertyList(attributes)
    top["Tracks"] = try tracks()
    top["Playlists"] = try library.playlists().map {
      PropertyValue.propertyList(try values(of: $0))
    }
    return try PropertyListSerialization.data(fromPropertyList: top, format: .xml, options: 0)
  }

  /// The default top-level values, for a library without a library file.
  private static let header: [String: PropertyValue] = [
    "Major Version": .integer(1), "Minor Version": .integer(1),
    "Application Version": .string("jukebox"),
  ]

  private func tracks() throws -> [String: Any] {
    var tracks: [String: Any] = [:]
    // Converts song by song, so that a large library is not in memory twice.
    try library.store.enumerate(Song.self) { song, _ in
      tracks["\(song.number)"] = PropertyValue.propertyList(try values(of: song))
    }
    return tracks
  }

  private func values(of song: Song) throws -> [String: PropertyValue] {
    var values = try song.attributes.values()
    values["Track ID"] = .integer(song.number)
    values.put(song.title.map(PropertyValue.string), "Name")
    values.put(song.artist.map(PropertyValue.string), "Artist")
    values.put(song.album.map(PropertyValue.string), "Album")
    values.put(song.milliseconds.map(PropertyValue.integer), "Total Time")
    values.put(song.location.map(PropertyValue.string), "Location")
    return values
  }

  private func values(of playlist: Playlist) throws -> [String: PropertyValue] {
    var values = try playlist.attributes.values()
    values["Playlist ID"] = .integer(playlist.number)
    values.put(playlist.name.map(PropertyValue.string), "Name")
    let songs = try library.songs(of: playlist)
    guard !songs.isEmpty else { return values }
    values["Playlist Items"] = .array(songs.map { .dictionary(["Track ID": .integer($0.number)]) })
    return values
  }
}

extension [String: PropertyValue] {
  /// Sets a value unless it is nil; then a value of the wrong type from the attributes stays.
  fileprivate mutating func put(_ value: PropertyValue?, _ key: String) {
    if let value { self[key] = value }
  }
}
