import ConditionSyntax
import StoredObjects
import Testing

@testable import JukeboxCommands

@Suite("Expressions")
struct ExpressionTests {
  @Test("not binds tighter than and, and and tighter than or")
  func precedence() throws {
    #expect(
      try Expression("id = 1 or not id = 2 and ID = #3")
        == .any([
          .comparison(.id, .equal, .number(1)),
          .all([
            .not(.comparison(.id, .equal, .number(2))), .comparison(.id, .equal, .number(3)),
          ]),
        ]))
    #expect(
      try Expression("(id=1 OR id=2)AND id<=3")
        == .all([
          .any([.comparison(.id, .equal, .number(1)), .comparison(.id, .equal, .number(2))]),
          .comparison(.id, .lessOrEqual, .number(3)),
        ]))
  }

  @Test(
    "Quotation marks of either kind enclose a text, and doubled ones are a part of it",
    arguments: [
      ("title = 'a \"b\"'", "a \"b\""), ("title = \"it's\"", "it's"), ("title = 'it''s'", "it's"),
      ("title = \"\"", ""), ("title = 'none'", "none"), ("title = Mix", "Mix"),
      ("title = \"and\"", "and"), ("title='e\u{301}'", "é"), ("title = さくら", "さくら"),
    ])
  func texts(_ source: String, _ text: String) throws {
    #expect(
      try Expression(source) == .comparison(.title, .equal, .text(text)))
  }

  @Test(
    "A time is seconds, minutes and seconds, or hours, minutes and seconds",
    arguments: [("210", 210), ("3:30", 210), ("1:03:30", 3810), ("0:05", 5)])
  func times(_ text: String, _ seconds: Int64) throws {
    #expect(
      try Expression("time >= \(text)")
        == .comparison(.time, .greaterOrEqual, .time(seconds)))
  }

  @Test("A list is one comparison, and can be empty")
  func lists() throws {
    #expect(
      try Expression("artist in (Bach, 'Scott Joplin', none)")
        == .oneOf(.artist, [.text("Bach"), .text("Scott Joplin"), .none]))
  }

  @Test(
    "An invalid expression is an error with its position",
    arguments: [
      ("", 1, "expected one of id, title, artist, album, location, time, not the end"),
      ("titl = x", 1, "not \"titl\"; did you mean \"title\"."),
      ("title", 6, "expected one of = != < <= > >= in, contains, and starts with, not the end"),
      ("title == x", 8, "expected a value, not \"=\""),
      ("title ! x", 7, "\"!\" is not an operator; write != or not"),
      ("title = ", 9, "expected a value, not the end"),
      ("title = and", 9, "not \"and\"; as a text it needs quotation marks"),
      ("title = Maple Leaf", 15, "not \"Leaf\"; a text of several words needs quotation marks"),
      ("title = 'Maple", 9, "the quotation mark that begins here is not closed"),
      ("title starts 'a'", 14, "expected \"with\", not \"a\""),
      ("(title = a", 11, "expected \"and\", \"or\" or \")\", not the end"),
      ("title = a)", 10, "expected \"and\", \"or\" or the end, not \")\""),
      ("time contains 3", 6, "time is a number; compare it by"),
      ("id starts with 3", 4, "id is a number; compare it by"),
      ("time = 3:3x", 8, "\"3:3x\" is not a time; write 210, 3:30 or 1:03:30"),
      ("time = 1:2:3:4", 8, "is not a time"), ("time > 99999999999", 8, "is not a time"),
      ("id = x", 6, "\"x\" is not an ID; write 42 or #42"),
      ("id = none", 6, "\"none\" is not an ID"),
      ("artist < none", 10, "none can be compared by = and != only"),
      ("artist in Bach", 11, "expected \"(\", not \"Bach\""),
      ("artist in (Bach", 16, "expected \",\" or \")\", not the end"),
      ("artist in ()", 12, "expected a value, not \")\""),
      ("さくら = 1", 1, "not \"さくら\""),
    ])
  func failures(_ source: String, _ position: Int, _ message: String) throws {
    let failure = #expect(throws: Failure.self) { try Expression(source) }
    let text = try #require(failure?.description)
    #expect(text.hasPrefix("At character \(position) of the expression: "))
    #expect(text.contains(message), "\(text)")
  }

  @Test("The mark is at the position, also after wide characters")
  func pointer() throws {
    let failure = #expect(throws: Failure.self) { try Expression("title = 'さ' x") }
    let lines = try #require(failure?.description).split(separator: "\n")
    #expect(lines.suffix(2) == ["  title = 'さ' x", "               ^"])
  }

  @Test("An expression that is too long or too deep is refused")
  func limits() throws {
    for source in [
      String(repeating: "(", count: 100_000), String(repeating: "not ", count: 100_000) + "id = 1",
      Array(repeating: "id = 1", count: 101).joined(separator: " or "),
    ] {
      #expect(throws: Failure.self) { try Expression(source) }
    }
    let most = Array(repeating: "id = 1", count: 100).joined(separator: " or ")
    #expect(throws: Never.self) { try Expression(most) }
  }
}

@Suite("Queries for songs")
struct SongQueryTests {
  private func library() throws -> Library {
    let library = try makeLibrary()
    let artists = ["Bach", "Scott Joplin", "", "Émile", nil]
    let titles = ["Rag", "Maple Leaf Rag", "rag", "Zebra", nil, "É"]
    let tracks = (1...300).map { number -> (String, Any) in
      var values: [String: Any] = ["Track ID": number]
      values["Name"] = titles[number % titles.count]
      values["Artist"] = artists[number % artists.count]
      values["Album"] = number % 7 == 0 ? nil : "Album \(number % 7)"
      values["Total Time"] = number % 4 == 0 ? nil : number * 700
      return ("\(number)", values)
    }
    try library.importLibrary(propertyList(tracks: Dictionary(uniqueKeysWithValues: tracks)))
    return library
  }

  typealias Asked = (text: String, index: String?, holds: @Sendable (Song) -> Bool)

  static let asked: [Asked] = [
    ("id = 5", "number", { $0.number == 5 }),
    ("id != 5", nil, { $0.number != 5 }),
    ("id >= 10 and id < 20", "number", { 10..<20 ~= $0.number }),
    ("id in (7, #8, 9)", "number", { [7, 8, 9].contains($0.number) }),
    ("title = Rag and id < 100", nil, { $0.title == "Rag" && $0.number < 100 }),
    ("title = none", "title", { $0.title == nil }),
    ("title != none", nil, { $0.title != nil }),
    ("artist = ''", "artist", { $0.artist == "" }),
    ("artist != Bach", nil, { $0.artist != "Bach" }),
    (
      "artist in ('Émile', none) and title = É", nil,
      {
        ["Émile", nil].contains($0.artist) && $0.title == "É"
      }
    ),
    ("artist < C and id < 50", nil, { $0.artist.map { $0 < "C" } == true && $0.number < 50 }),
    ("album starts with 'Album 1'", "album", { $0.album?.hasPrefix("Album 1") == true }),
    ("album >= 'Album 6'", "album", { $0.album.map { $0 >= "Album 6" } == true }),
    ("title > Zea", nil, { $0.title.map { $0 > "Zea" } == true }),
    ("title contains Rag", nil, { $0.title?.contains("Rag") == true }),
    ("title contains ''", nil, { $0.title != nil }),
    ("not title contains Rag", nil, { $0.title?.contains("Rag") != true }),
    ("time = 0:07", "milliseconds", { $0.milliseconds.map { $0 / 1000 == 7 } == true }),
    ("time != 0:07", nil, { $0.milliseconds.map { $0 / 1000 == 7 } != true }),
    ("time < 0:10", "milliseconds", { $0.milliseconds.map { $0 / 1000 < 10 } == true }),
    ("time <= 10", "milliseconds", { $0.milliseconds.map { $0 / 1000 <= 10 } == true }),
    ("time > 3:20", "milliseconds", { $0.milliseconds.map { $0 / 1000 > 200 } == true }),
    ("time >= 3:20", "milliseconds", { $0.milliseconds.map { $0 / 1000 >= 200 } == true }),
    ("time = none", nil, { $0.milliseconds == nil }),
    ("location = none", nil, { $0.location == nil }),
    (
      "id = 1 or time = 0:07", nil,
      { $0.number == 1 || $0.milliseconds.map { $0 / 1000 == 7 } == true }
    ),
    ("not (id < 290 or artist = Bach)", nil, { !($0.number < 290 || $0.artist == "Bach") }),
  ]

  @Test("They match a scan of all songs, by an index if there is one")
  func found() throws {
    let library = try library()
    defer { library.dissolve() }
    let all = try library.songs()
    for (text, index, holds) in Self.asked {
      let query = SongQuery(condition: text)
      let found = try query.songs(in: library)
      #expect(found.map(\.number) == all.filter(holds).map(\.number), "\(text)")
      guard let index else { continue }
      #expect(try query.plan(in: library).indexes == [index], "\(text)")
    }
  }

  @Test("They have an order and pages")
  func ordered() throws {
    let library = try library()
    defer { library.dissolve() }
    func numbers(_ order: String, _ limit: Int?, _ offset: Int = 0) throws -> [Int64] {
      try SongQuery(condition: "id < 40", order: order, limit: limit, offset: offset)
        .songs(in: library).map(\.number)
    }
    #expect(try numbers("-id", 3) == [39, 38, 37])
    #expect(try numbers("id", 3, 5) == [6, 7, 8])
    let expected = try library.songs().filter { $0.number < 40 }.sorted {
      let (left, right) = ($0.artist ?? "\u{0}", $1.artist ?? "\u{0}")
      if ($0.artist == nil) != ($1.artist == nil) { return $0.artist == nil }
      return left != right ? left < right : $0.number > $1.number
    }
    #expect(try numbers("artist, -id", nil) == expected.map(\.number))
    #expect(try numbers("id", 0) == [])
    let failure = #expect(throws: Failure.self) { try numbers("id,titl", nil) }
    #expect(failure?.description.contains("not \"titl\". Did you mean \"title\"?") == true)
  }
}
