/// Prints lists of songs: a table for people, or JSON for programs.
enum TrackTable {
  /// Prints songs in their order, with their positions if they have any.
  static func print(_ tracks: [Track], asJSON: Bool, withPositions: Bool = false) throws {
    guard !asJSON else { return try Output.printJSON(tracks) }
    try Output.print(withPositions ? positioned(tracks) : plain(tracks))
  }

  private static func plain(_ tracks: [Track]) -> [String] {
    var table = Table(
      .init(title: "ID", isNumeric: true), .init(title: "Time", isNumeric: true),
      .init(title: "Title"), .init(title: "Artist"), .init(title: "Album"))
    for track in tracks {
      table.add(
        "#\(track.id ?? 0)", duration(track.seconds), track.title, track.artist, track.album)
    }
    return table.lines
  }

  private static func positioned(_ tracks: [Track]) -> [String] {
    var table = Table(
      .init(title: "Pos", isNumeric: true), .init(title: "ID", isNumeric: true),
      .init(title: "Time", isNumeric: true), .init(title: "Title"), .init(title: "Artist"),
      .init(title: "Album"))
    for (index, track) in tracks.enumerated() {
      table.add(
        "\(index + 1)", "#\(track.id ?? 0)", duration(track.seconds), track.title, track.artist,
        track.album)
    }
    return table.lines
  }
}
