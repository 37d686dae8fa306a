/// Songs as a listing: a table for people, JSON for programs.
enum SongList {
  /// Prints songs in the order given, with their positions where they have any.
  static func print(_ songs: [Song], asJSON: Bool, withPositions: Bool = false) throws {
    guard !asJSON else {
      return try Output.printJSON(songs.map { TrackJSON($0, withID: true) })
    }
    try Output.print(withPositions ? positioned(songs) : plain(songs))
  }

  private static func plain(_ songs: [Song]) -> [String] {
    var table = Table(
      .init(title: "ID", isNumeric: true), .init(title: "Time", isNumeric: true),
      .init(title: "Title"), .init(title: "Artist"), .init(title: "Album"))
    for song in songs {
      table.add(
        "#\(song.number)", duration(song.seconds), song.title ?? "", song.artist ?? "",
        song.album ?? "")
    }
    return table.lines
  }

  private static func positioned(_ songs: [Song]) -> [String] {
    var table = Table(
      .init(title: "Pos", isNumeric: true), .init(title: "ID", isNumeric: true),
      .init(title: "Time", isNumeric: true), .init(title: "Title"), .init(title: "Artist"),
      .init(title: "Album"))
    for (index, song) in songs.enumerated() {
      table.add(
        "\(index + 1)", "#\(song.number)", duration(song.seconds), song.title ?? "",
        song.artist ?? "", song.album ?? "")
    }
    return table.lines
  }
}
