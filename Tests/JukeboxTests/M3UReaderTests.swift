import Foundation
import Testing

@testable import JukeboxCommands

@Suite("An M3U playlist")
struct M3UReaderTests {
  private func read(_ text: String, at path: String = "/lists/Rainy.m3u") throws -> PlaylistFile {
    try M3UReader.read(Data(text.utf8), at: URL(fileURLWithPath: path))
  }

  @Test("of plain paths takes titles from the names of the files")
  func plainPaths() throws {
    let file = try read("a/One.mp3\n/b/Two.tar.flac\nhttp://x.org/Three\nC:\\Music\\Four.wma\n")
    #expect(file.name == "Rainy")
    #expect(file.entries.map(\.title) == ["One", "Two.tar", "Three", "Four"])
    #expect(
      file.entries.map(\.location) == [
        "file:///lists/a/One.mp3", "file:///b/Two.tar.flac", "http://x.org/Three",
        "C:\\Music\\Four.wma",
      ])
  }

  @Test("has lengths, artists, titles and its own name")
  func extended() throws {
    let file = try read(
      """
      #EXTM3U
      #PLAYLIST: Rainy Sunday
      #EXTINF:187,Erik Satie - Gymnopédie No. 1
      one.mp3

      #a remark
      #EXTINF:-1,Radio
      two.mp3
      #extinf:12.5 tvg-name="a, b",A - B - C
      three.mp3
      #EXTINF:soon
      four.mp3
      #EXTINF:99999999999999999999,Long
      five.mp3
      six.mp3
      """)
    #expect(file.name == "Rainy Sunday")
    #expect(
      file.entries.map(\.title) == ["Gymnopédie No. 1", "Radio", "B - C", "four", "Long", "six"])
    #expect(file.entries.map(\.artist) == ["Erik Satie", nil, "A", nil, nil, nil])
    #expect(file.entries.map(\.milliseconds) == [187_000, nil, 12_500, nil, nil, nil])
  }

  @Test("may have any line ends and a byte order mark")
  func lineEnds() throws {
    let file = try read("\u{FEFF}#EXTM3U\r\n#EXTINF:1,A\r\na.mp3\rb.mp3\r\n")
    #expect(file.entries.map(\.title) == ["A", "b"])
  }

  @Test("that is not UTF-8 is Latin-1, unless its extension is m3u8")
  func latin1() throws {
    let data = Data([0x44, 0x76, 0x6F, 0xF8, 0xE1, 0x6B])
    let file = try M3UReader.read(data, at: URL(fileURLWithPath: "/x.m3u"))
    #expect(file.entries.map(\.title) == ["Dvoøák"])
    let failure = #expect(throws: Failure.self) {
      try M3UReader.read(data, at: URL(fileURLWithPath: "/x.m3u8"))
    }
    #expect(failure?.description.contains("not UTF-8") == true)
  }

  @Test("may be UTF-16")
  func utf16() throws {
    let data = try #require("#EXTM3U\nКалинка.mp3\n".data(using: .utf16))
    let file = try M3UReader.read(data, at: URL(fileURLWithPath: "/x.m3u"))
    #expect(file.entries.map(\.title) == ["Калинка"])
  }

  @Test("that is empty or binary is refused", arguments: ["", "\r\n  \n", "a\u{0}b"])
  func refusal(_ text: String) {
    #expect(throws: Failure.self) { try read(text) }
  }

  @Test("without songs is an empty playlist")
  func noSongs() throws {
    #expect(try read("#EXTM3U\n").entries.isEmpty)
  }

  @Test("finds a location by any spelling of its URL")
  func locations() {
    #expect(Location.key("file://localhost/a%20b/%C3%A9") == "/a b/é")
    #expect(Location.key("file:///a b/é") == "/a b/é")
    #expect(Location.key("http://x/a%20b") == "http://x/a%20b")
    #expect(Location.key("file:///100%") == "/100%")
  }
}
