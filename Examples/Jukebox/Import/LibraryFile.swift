/// What a library file says, before it meets the store.
struct LibraryFile: Equatable {
  /// A track as the file has it.
  struct Track: Equatable {
    /// Unique among the tracks of the file.
    var id: Int64
    var title: String?
    var artist: String?
    var album: String?
    var milliseconds: Int64?
    var location: String?
    /// All other keys.
    var attributes = Attributes()
  }

  /// A playlist as the file has it.
  struct Playlist: Equatable {
    var origin: Origin
    var name: String?
    /// The IDs of tracks, in order, with repeats.
    var items: [Int64] = []
    /// The ID that iTunes gave it for ever.
    var persistentID: String?
    /// All other keys.
    var attributes = Attributes()
  }

  /// The keys beside Tracks and Playlists.
  var attributes = Attributes()
  /// In the order of their IDs.
  var tracks: [Track] = []
  /// In the order of the file.
  var playlists: [Playlist] = []
  /// What was passed over.
  var problems = Problems()
}
