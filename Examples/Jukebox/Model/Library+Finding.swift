extension Library {
  /// Returns the playlist with an `#ID` or an exact name.
  func playlist(_ text: String) throws -> Playlist {
    let playlists = try playlists()
    if let number = Self.number(text), let found = playlists.first(where: { $0.number == number }) {
      return found
    }
    let found = playlists.filter { ($0.name ?? "") == text }
    if let only = found.first, found.count == 1 { return only }
    guard found.isEmpty else { throw Self.ambiguous(found, named: text) }
    throw Failure(
      """
      There is no playlist \(quoted(text)).\
      \(didYouMean(text, playlists.map { $0.name ?? "" })) \
      \"jukebox playlists\" lists them all.
      """)
  }

  /// Returns the song with an `#ID` or an exact title.
  func song(_ text: String, among songs: [Song]) throws -> Song {
    if let number = Self.number(text), let found = songs.first(where: { $0.number == number }) {
      return found
    }
    let found = songs.filter { ($0.title ?? "") == text }
    if let only = found.first, found.count == 1 { return only }
    guard found.isEmpty else { throw Self.ambiguous(found, titled: text) }
    throw Failure(
      """
      There is no song \(quoted(text)).\(didYouMean(text, songs.map { $0.title ?? "" })) \
      Name a song by its exact title or by #ID; \"jukebox search\" finds both.
      """)
  }

  /// Returns the ID in "#5".
  private static func number(_ text: String) -> Int64? {
    guard text.hasPrefix("#"), !text.hasPrefix("#+") else { return nil }
    return Int64(text.dropFirst())
  }

  private static func ambiguous(_ playlists: [Playlist], named name: String) -> Failure {
    let choices = playlists.map { "  #\($0.number)  \(counted($0.songs.count, "song"))" }
    return Failure(
      """
      \(playlists.count) playlists are called \(quoted(name)). Name one by its ID, in quotes for \
      the shell:
      \(choices.joined(separator: "\n"))
      """)
  }

  private static func ambiguous(_ songs: [Song], titled title: String) -> Failure {
    let choices = songs.prefix(20).map { song in
      "  #\(song.number)  \(song.artist ?? ""), \(song.album ?? "") (\(duration(song.seconds)))"
        .forTerminal
    }
    let more = songs.count > 20 ? "\n  and \(songs.count - 20) more" : ""
    return Failure(
      """
      \(songs.count) songs are called \(quoted(title)). Name one by its ID, in quotes for the shell:
      \(choices.joined(separator: "\n"))\(more)
      """)
  }
}

/// A name in quotation marks, safe for a terminal.
func quoted(_ name: String) -> String { "\"\(name.forTerminal)\"" }
