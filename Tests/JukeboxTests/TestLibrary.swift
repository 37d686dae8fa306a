import Foundation
import StoredObjects

@testable import JukeboxCommands

/// A library in memory, and what the tests fill it with.
func makeLibrary(_ disk: MemoryDisk = MemoryDisk()) throws -> Library {
  try Library(backend: MemoryBackend(disk: disk))
}

/// A library file with these tracks and playlists.
func propertyList(
  tracks: [String: Any] = [:], playlists: [[String: Any]] = [],
  format: PropertyListSerialization.PropertyListFormat = .xml
) throws -> Data {
  try propertyList(["Tracks": tracks, "Playlists": playlists] as [String: Any], format)
}

/// Any value as a property list.
func propertyList(
  _ value: Any, _ format: PropertyListSerialization.PropertyListFormat = .xml
) throws -> Data {
  try PropertyListSerialization.data(fromPropertyList: value, format: format, options: 0)
}

/// A track as a library file has it.
func track(_ id: Int, _ title: String, _ more: [String: Any] = [:]) -> [String: Any] {
  ["Track ID": id, "Name": title].merging(more) { _, new in new }
}

/// A playlist as a library file has it.
func playlist(_ id: Int?, _ name: String, _ items: [Int], _ more: [String: Any] = [:])
  -> [String: Any]
{
  var values: [String: Any] = ["Name": name]
  values["Playlist ID"] = id
  if !items.isEmpty { values["Playlist Items"] = items.map { ["Track ID": $0] } }
  return values.merging(more) { _, new in new }
}

/// Three songs and two playlists.
func smallLibrary() throws -> Data {
  try propertyList(
    tracks: [
      "1": track(1, "Maple Leaf Rag", ["Artist": "Scott Joplin", "Total Time": 194_999]),
      "2": track(2, "Vltava", ["Artist": "Bedřich Smetana", "Album": "Má vlast", "Rating": 80]),
      "3": track(3, "Greensleeves", ["Loved": true, "Total Time": 202_000]),
    ],
    playlists: [playlist(20, "Evening", [3, 1, 3]), playlist(10, "Rags", [1], ["Folder": true])])
}

extension Library {
  /// Imports a library file and saves.
  @discardableResult
  func importLibrary(_ data: Data) throws -> ImportReport {
    var importer = LibraryImporter(self)
    let report = try importer.run(try PropertyListReader.read(data))
    try store.saveChanges()
    return report
  }

  /// Imports an M3U playlist and saves.
  @discardableResult
  func importPlaylist(_ text: String, at path: String = "/lists/Rainy.m3u8") throws -> ImportReport
  {
    var importer = try M3UImporter(self)
    let data = Data(text.utf8)
    let report = try importer.run(try M3UReader.read(data, at: URL(fileURLWithPath: path)))
    try store.saveChanges()
    return report
  }

  /// The titles of each playlist, in order.
  func contents() throws -> [[String]] {
    try playlists().map { playlist in
      ["\(playlist.name ?? "")"] + (try songs(of: playlist)).map { $0.title ?? "" }
    }
  }
}
