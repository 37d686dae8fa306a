/// What an import has done, counted.
struct ImportReport: Equatable {
  struct Counts: Equatable {
    var added = 0
    var updated = 0
    var unchanged = 0

    /// Counts one more object.
    mutating func add(isNew: Bool, isChanged: Bool) {
      if isNew {
        added += 1
      } else if isChanged {
        updated += 1
      } else {
        unchanged += 1
      }
    }

    func described(_ noun: String) -> String {
      let total = counted(added + updated + unchanged, noun)
      return "\(total) (\(added) new, \(updated) changed, \(unchanged) as before)"
    }
  }

  var songs = Counts()
  var playlists = Counts()
  /// Places in playlists, repeats included.
  var items = 0
  var problems = Problems()

  /// One line for a person.
  var summary: String {
    """
    Imported \(songs.described("song")) and \(playlists.described("playlist")) \
    with \(counted(items, "item")).
    """
  }
}
