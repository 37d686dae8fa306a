/// The number of objects that an import has added, changed or left out.
struct ImportReport: Equatable {
  struct Counts: Equatable {
    var added = 0
    var updated = 0
    var unchanged = 0

    /// Counts an object.
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
      return "\(total) (\(added) new, \(updated) changed, \(unchanged) unchanged)"
    }
  }

  var songs = Counts()
  var playlists = Counts()
  /// The number of songs in the playlists, including repeats.
  var items = 0
  var problems = Problems()

  /// The report in one line.
  var summary: String {
    """
    Imported \(songs.described("song")) and \(playlists.described("playlist")) \
    with \(counted(items, "item")).
    """
  }
}
