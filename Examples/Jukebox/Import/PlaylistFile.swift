/// What an M3U playlist says, before it meets the store.
struct PlaylistFile: Equatable {
  /// A song as the file has it.
  struct Entry: Equatable {
    /// A URL, or whatever stood in its place.
    var location: String
    var title: String
    var artist: String?
    var milliseconds: Int64?
  }

  var name: String
  /// In order, with repeats.
  var entries: [Entry] = []
}
