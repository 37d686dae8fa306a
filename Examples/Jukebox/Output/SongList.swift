import Foundation
import StoredObjects

/// The first songs of live results, on a terminal or in a file.
@MainActor final class SongList {
  private let results: LiveResults<Song>
  private let rows: Int
  private let isTerminal = isatty(STDOUT_FILENO) == 1
  private var lineCount = 0
  private var songCount: Int

  init(_ results: LiveResults<Song>, rows: Int) {
    (self.results, self.rows) = (results, rows)
    songCount = results.count
  }

  /// Shows the current list in place of the previous one.
  func show() throws {
    let difference = results.count - songCount
    songCount = results.count
    guard isTerminal else {
      if difference == 0 { return }
      let sign = difference > 0 ? "+" : ""
      return try Output.print("\(counted(songCount, "song")) (\(sign)\(difference))")
    }
    let shown = lines
    // Moves up to the first line of the list, and clears all lines below.
    let back = lineCount == 0 ? "" : "\u{1B}[\(lineCount)A\u{1B}[J"
    try Output.print([back + shown[0]] + shown.dropFirst())
    lineCount = shown.count
  }

  private var lines: [String] {
    var table = Table(
      .init(title: "ID", isNumeric: true), .init(title: "Time", isNumeric: true),
      .init(title: "Artist"), .init(title: "Title"))
    for song in results.objects.prefix(rows) {
      let track = Track(song)
      table.add("#\(track.id ?? 0)", duration(track.seconds), track.artist, track.title)
    }
    return table.lines + ["\(counted(songCount, "song")) so far"]
  }
}
