extension Playlist {
  /// Returns the index of a position, which counts from 1.
  func index(_ position: Int) throws -> Int {
    guard !songs.isEmpty else {
      throw Failure("The playlist \(quoted(name ?? "")) is empty, so it has no positions.")
    }
    guard (1...songs.count).contains(position) else {
      throw Failure(
        """
        There is no position \(position) in the playlist \(quoted(name ?? "")): \
        positions are from 1 to \(songs.count).
        """)
    }
    return position - 1
  }
}
