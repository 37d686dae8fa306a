import Foundation
import Testing

@testable import JukeboxCommands

@Suite("Output")
struct OutputTests {
  @Test("shows control characters as escapes, and keeps emoji")
  func escapes() {
    #expect(
      "a\nb\tc\r\u{1B}[1m\u{202E}\u{85}".forTerminal == "a\\nb\\tc\\r\\u{1B}[1m\\u{202E}\\u{85}")
    #expect("👩‍🚀 é さくら".forTerminal == "👩‍🚀 é さくら")
  }

  @Test(
    "counts the columns of a terminal",
    arguments: [("abc", 3), ("さくら", 6), ("e\u{301}", 1), ("👩‍🚀", 2), ("Dvořák", 6), ("", 0)])
  func columns(_ text: String, _ count: Int) {
    #expect(text.columnCount == count)
  }

  @Test("aligns columns, one line per row")
  func table() {
    var table = Table(.init(title: "N", isNumeric: true), .init(title: "Name"), .init(title: "End"))
    table.add("1", "さくら", "x")
    table.add("22", "a\nb", "")
    #expect(table.lines == [" N  Name    End", " 1  さくら  x", "22  a\\nb"])
  }

  @Test("lets a long text shift its own row only")
  func longText() {
    var table = Table(.init(title: "Name"), .init(title: "End"))
    table.add(String(repeating: "a", count: 200), "x")
    #expect(table.lines.map(\.count) == [49, 203])
  }

  @Test(
    "formats lengths",
    arguments: [
      (0, "0:00"), (61, "1:01"), (3600, "1:00:00"), (-5, "-0:05"),
      (Int64.min, "-2562047788015215:30:08"),
    ])
  func durations(_ seconds: Int64, _ text: String) {
    #expect(duration(seconds) == text)
  }

  @Test("of sums that overflow is the largest number")
  func sums() {
    #expect([Int64.max, 1].clampedSum == .max)
    #expect([Int64.min, -1].clampedSum == .min)
  }

  @Test("as JSON has the documented keys")
  func json() throws {
    let song = Song()
    (song.number, song.milliseconds) = (7, 1999)
    let playlist = Playlist()
    playlist.setSongs([song, song])
    defer { playlist.setSongs([]) }
    #expect(try keys(TrackList(playlist)) == ["name", "tracks"])
    #expect(
      try text(Track(song, withID: false))
        == #"{"album":"","artist":"","seconds":1,"title":""}"#)
    #expect(
      try keys(Track(song)) == ["album", "artist", "id", "seconds", "title"])
    #expect(TrackList(playlist).tracks.count == 2)
  }

  private func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private func keys(_ value: some Encodable) throws -> [String] {
    let object = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(value))
    return (object as? [String: Any] ?? [:]).keys.sorted()
  }

  @Test("shows the progress of a long command")
  func progress() {
    #expect(ProgressBar.line("Songs", percent: 0) == "Songs [..............................] 0 %")
    #expect(ProgressBar.line("Songs", percent: 50) == "Songs [###############...............] 50 %")
    #expect(ProgressBar.line("Saving", percent: nil) == "Saving...")
  }
}
