/// The content of a library file.
struct LibraryFile: Equatable {
  /// A track in the file.
  struct Track: Equatable {
    /// The Track ID, unique in the file.
    var id: Int64
    var title: String?
    var artist: String?
    var album: String?
    var milliseconds: Int64?
    var location: String?
    /// All other keys.
    var attributes = Attributes()
  }

  /// A playlist in the file.
  struct Playlist: Equatable {
    var origin: Origin
    var name: String?
    /// The IDs of its tracks, in order, with repeats.
    var items: [Int64] = []
    /// The ID that iTunes never changes.
    var persistentID: String?
    /// All other keys.
    var attributes = Attributes()
  }

  /// The top-level keys except Tracks and Playlists.
  var attributes = Attributes()
  /// The tracks, in the order of their IDs.
  var tracks: [Track] = []
  /// The playlists, in the order of the file.
  var playlists: [Playlist] = []
  /// The parts of the file that were left out.
  var problems = Problems()
}
