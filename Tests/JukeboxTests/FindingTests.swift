import StoredObjects
import Testing

@testable import JukeboxCommands

@Suite("The command line accepts")
struct FindingTests {
  private func library() throws -> Library {
    let library = try makeLibrary()
    try library.importLibrary(
      propertyList(
        tracks: ["1": track(1, "Mix"), "2": track(2, "Mix"), "3": track(3, "#1")],
        playlists: [
          playlist(5, "Mix", [1]), playlist(6, "Mix", []), playlist(7, "#5", []),
          playlist(8, "#99", []), playlist(9, "Evening", []), playlist(10, "", []),
        ]))
    return library
  }

  @Test("a playlist by its name or its ID; an ID takes precedence")
  func playlists() throws {
    let library = try library()
    defer { library.dissolve() }
    #expect(try library.playlist("Evening").number == 9)
    #expect(try library.playlist("#6").number == 6)
    #expect(try library.playlist("#5").name == "Mix")
    #expect(try library.playlist("#7").name == "#5")
    #expect(try library.playlist("#99").number == 8)
    #expect(try library.playlist("").number == 10)
  }

  @Test("no name of two playlists, and lists their IDs")
  func ambiguous() throws {
    let library = try library()
    defer { library.dissolve() }
    let failure = #expect(throws: Failure.self) { try library.playlist("Mix") }
    let text = try #require(failure?.description)
    #expect(text.contains("#5  1 song") && text.contains("#6  0 songs"))
    let other = #expect(throws: Failure.self) { try library.song("Mix", among: library.songs()) }
    #expect(other?.description.contains("#1") == true && other?.description.contains("#2") == true)
  }

  @Test(
    "no wrong name, and suggests similar ones", arguments: ["evening", "Evning", "Even"])
  func suggestion(_ name: String) throws {
    let library = try library()
    defer { library.dissolve() }
    let failure = #expect(throws: Failure.self) { try library.playlist(name) }
    #expect(failure?.description.contains("Did you mean \"Evening\"?") == true)
  }

  @Test("no name that is similar to none")
  func noSuggestion() throws {
    let library = try library()
    defer { library.dissolve() }
    let failure = #expect(throws: Failure.self) { try library.playlist("Brahms") }
    #expect(failure?.description.contains("There is no playlist \"Brahms\". \"jukebox") == true)
  }

  @Test(
    "positions from 1, and reports the range", arguments: [0, -1, 2, Int.max, Int.min])
  func positions(_ position: Int) throws {
    let library = try library()
    defer { library.dissolve() }
    let playlist = try library.playlist("#5")
    #expect(try playlist.index(1) == 0)
    let failure = #expect(throws: Failure.self) { try playlist.index(position) }
    #expect(failure?.description.contains("from 1 to 1") == true)
  }

  @Test("no position in an empty playlist")
  func emptyPlaylist() throws {
    let library = try library()
    defer { library.dissolve() }
    let playlist = try library.playlist("#6")
    let failure = #expect(throws: Failure.self) { try playlist.index(1) }
    #expect(failure?.description.contains("is empty") == true)
  }

  @Test(
    "searches without case and accents",
    arguments: [
      ("dvorak", "Dvořák"), ("DVOŘÁK", "Antonin Dvorak"), ("ёлка", "ЕЛКА"), ("さくら", "さくらさくら"),
      ("e\u{301}", "É"), ("strasse", "Straße"), ("bedrich smet", "Smetana, Bedřich"),
      ("*etan* NOT vltava", "Smetana"), ("\"cello suite\"", "The Cello Suites No. 1 (Cello Suite)"),
    ])
  func search(_ text: String, _ title: String) throws {
    let library = try library()
    defer { library.dissolve() }
    let song = Song()
    song.album = title
    library.store.insert(song)
    #expect(try library.search(text) == [song])
    #expect(try library.search(text + " AND nothing").isEmpty)
  }
}
