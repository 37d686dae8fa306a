/// The content of an M3U playlist.
struct PlaylistFile: Equatable {
  /// A song in the file.
  struct Entry: Equatable {
    /// The URL, or the text in its place.
    var location: String
    var title: String
    var artist: String?
    var milliseconds: Int64?
  }

  var name: String
  /// The songs, in order, with repeats.
  var entries: [Entry] = []
}
