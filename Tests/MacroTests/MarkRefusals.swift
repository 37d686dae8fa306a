#if Macros
  // Invalid attributes that name other properties.

  let relationships: [Refusal] = [
    Refusal(
      property: "@Relationship(deleteRule: .cascade) var title: String = \"\"",
      """
      'String' refers to no object: @Relationship is for Song?, [Song], ObjectList<Song> and \
      Set<Song>
      """, [("Remove '@Relationship'", "var title: String = \"\"")]),
    Refusal(
      property: "@Relationship var songs: [String: Song] = [:]",
      """
      '[String: Song]' refers to no object: @Relationship is for Song?, [Song], ObjectList<Song> \
      and Set<Song>
      """, [("Remove '@Relationship'", "var songs: [String: Song] = [:]")]),
    Refusal(
      property: "@Relationship var songs: [Song?] = []",
      """
      '[Song?]' refers to no object: @Relationship is for Song?, [Song], ObjectList<Song> and \
      Set<Song>
      """, [("Remove '@Relationship'", "var songs: [Song?] = []")]),
    Refusal(
      property: "@Relationship var songs: [Song]?",
      "a list in a relationship is empty rather than nil: write '[Song]'",
      [("Replace it by '[Song] = []'", "@Relationship var songs: [Song] = []")]),
    Refusal(
      property: "@Relationship(inverse: \\.mixes) var songs: [Song] = []",
      "a macro can't see whose property the inverse is: write '\\Song.mixes'",
      [
        (
          "Replace it by '\\Song.mixes'",
          "@Relationship(inverse: \\Song.mixes) var songs: [Song] = []"
        )
      ]),
    Refusal(
      property: "@Relationship(inverse: \"mixes\") var songs: Set<Song> = []",
      "the inverse is a key path: write '\\Song.mixes'",
      [
        (
          "Replace it by '\\Song.mixes'",
          "@Relationship(inverse: \\Song.mixes) var songs: Set<Song> = []"
        )
      ]),
    Refusal(
      property: "@Relationship(inverse: other) var songs: [Song] = []",
      "the inverse is a key path: write '\\Song.property'"),
    Refusal(
      property: "@Relationship(inverse: \\Artist.songs) var songs: ObjectList<Song> = []",
      "the inverse is a property of Song, not of Artist",
      [
        (
          "Replace it by '\\Song.songs'",
          "@Relationship(inverse: \\Song.songs) var songs: ObjectList<Song> = []"
        )
      ]),
    Refusal(
      property: "@Relationship(inverse: \\Song.album.mixes) var song: Song?",
      "the inverse is a property of its own, not a path through another"),
  ]

  let uniqueness: [Refusal] = [
    Refusal(
      property: "@Unique(with: \\.title) var year: UInt16 = 0",
      "a macro can't see whose property the other property is: write '\\Song.title'",
      [
        (
          "Replace it by '\\Song.title'", "@Unique(with: \\Song.title) var year: UInt16 = 0"
        )
      ]),
    Refusal(
      property: "@Unique(with: \"title\") var year: UInt16 = 0",
      "the other property is a key path: write '\\Song.title'",
      [
        (
          "Replace it by '\\Song.title'", "@Unique(with: \\Song.title) var year: UInt16 = 0"
        )
      ]),
    Refusal(
      property: "@Unique(with: \\Album.title) var year: UInt16 = 0",
      "the other property is a property of Song, not of Album",
      [
        (
          "Replace it by '\\Song.title'", "@Unique(with: \\Song.title) var year: UInt16 = 0"
        )
      ]),
    Refusal(
      property: "@Unique(with: \\Song.year) var year: UInt16 = 0",
      "'year' is always unique with itself: write '@Unique'",
      [("Replace it by '@Unique'", "@Unique var year: UInt16 = 0")]),
    Refusal(
      property: "@Unique var tags: [String] = []",
      "'[String]' can't be unique: @Unique is for single values and references",
      [("Remove '@Unique'", "var tags: [String] = []")]),
    Refusal(
      property: "@Unique var songs: [Song] = []",
      "'[Song]' can't be unique: @Unique is for single values and references",
      [("Remove '@Unique'", "var songs: [Song] = []")]),
    Refusal(
      property: "@Unique @Indexed var number: Int64 = 0",
      "'number' is @Unique, which makes an index: remove @Indexed",
      [("Remove '@Indexed'", "@Unique var number: Int64 = 0")]),
    Refusal(
      property: """
        @Unique(with: \\Song.side) var number: Int64 = 0
          #Index<Song>([\\.number, \\.side])
          var side: String = ""
        """,
      "there is an index of 'number and side' already: remove one of the two"),
  ]

  let marks: [Refusal] = [
    Refusal(
      property: "@External(above: 4096) var title = \"\"",
      "'String' is always in the record: @External is for ExternalData",
      [("Remove '@External'", "var title = \"\"")]),
    Refusal(
      property: "@External(above: 4096) var data: [Data] = []",
      "'[Data]' is always in the record: @External is for ExternalData",
      [("Remove '@External'", "var data: [Data] = []")]),
    Refusal(
      property: "@External(above: -1) var cover = ExternalData()",
      "the size is a number of bytes: write 0 or more"),
    Refusal(
      property: "@External(above: 1) @External(above: 2) var cover = ExternalData()",
      "'cover' is @External already: remove one of the two",
      [("Remove '@External'", "@External(above: 1) var cover = ExternalData()")]),
    Refusal(
      property: "@External(above: 1) @Dropped(in: 1) var cover = ExternalData()",
      "@External is for properties that the class still has, and 'cover' is dropped: remove it",
      [("Remove '@External'", "@Dropped(in: 1) var cover = ExternalData()")]),
    Refusal(
      property: "@Transient @External(above: 1) var cover = ExternalData()",
      "@External is for stored properties, and 'cover' is not stored: remove it",
      [("Remove '@External'", "@Transient var cover = ExternalData()")]),
    Refusal(
      property: "@Unique @Dropped(in: 1) var number: Int64 = 0",
      "@Unique is for properties that the class still has, and 'number' is dropped: remove it",
      [("Remove '@Unique'", "@Dropped(in: 1) var number: Int64 = 0")]),
    Refusal(
      property: "@Relationship @Dropped(in: 1) var song: Song?",
      """
      @Relationship is for properties that the class still has, and 'song' is dropped: remove it
      """,
      [("Remove '@Relationship'", "@Dropped(in: 1) var song: Song?")]),
    Refusal(
      property: "@Transient @Unique var number: Int64 = 0",
      "@Unique is for stored properties, and 'number' is not stored: remove it",
      [("Remove '@Unique'", "@Transient var number: Int64 = 0")]),
    Refusal(
      property: "@Relationship var first: Song? { nil }",
      "@Relationship is for stored properties, and 'first' is not stored: remove it",
      [("Remove '@Relationship'", "var first: Song? { nil }")]),
    Refusal(
      property: "@Since(1) static var count: Int = 0",
      "@Since is for stored properties, and 'count' is not stored: remove it",
      [("Remove '@Since'", "static var count: Int = 0")]),
  ]
#endif
