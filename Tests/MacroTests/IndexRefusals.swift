#if Macros
  // Invalid indexes and full-text attributes.

  let indexes: [Refusal] = [
    Refusal(
      property: "@Indexed var names: [String] = []",
      """
      '[String]' has no order for an index: @Indexed is for single values, references, and lists \
      of references
      """, [("Remove '@Indexed'", "var names: [String] = []")]),
    Refusal(
      property: "@Indexed var counts: [String: Int64] = [:]",
      """
      '[String: Int64]' has no order for an index: @Indexed is for single values, references, and \
      lists of references
      """, [("Remove '@Indexed'", "var counts: [String: Int64] = [:]")]),
    Refusal(
      property: "@Indexed var names: Set<String>? = nil",
      """
      'Set<String>?' has no order for an index: @Indexed is for single values, references, and \
      lists of references
      """, [("Remove '@Indexed'", "var names: Set<String>? = nil")]),
    Refusal(
      property: "@Indexed var songs: [Song]?",
      "a list in an index is empty rather than nil: write '[Song]'",
      [("Replace it by '[Song] = []'", "@Indexed var songs: [Song] = []")]),
    Refusal(
      property: "@Indexed(unique: true) var songs: [Song] = []",
      "what a list refers to can't be unique: write '@Indexed'",
      [("Replace it by '@Indexed'", "@Indexed var songs: [Song] = []")]),
    Refusal(
      property: "@Indexed(unique: isUnique) var number: Int64 = 0",
      "a macro can't see values: write 'true' or 'false'"),
    Refusal(
      property: "@Indexed(folded: true) var number: Int64 = 0",
      "'Int64' is not a text, so it can't be folded: write '@Indexed'",
      [("Replace it by '@Indexed'", "@Indexed var number: Int64 = 0")]),
    Refusal(
      property: "@Indexed(folded: isFolded) var title: String = \"\"",
      "a macro can't see values: write 'true' or 'false'"),
    Refusal(
      property: "@Indexed @Indexed(unique: true) var number: Int64 = 0",
      "'number' is @Indexed already: remove one of the two",
      [("Remove '@Indexed'", "@Indexed var number: Int64 = 0")]),
    Refusal(
      property: "@Indexed @Dropped(in: 1) var number: Int64 = 0",
      "@Indexed is for properties that the class still has, and 'number' is dropped: remove it",
      [("Remove '@Indexed'", "@Dropped(in: 1) var number: Int64 = 0")]),
    Refusal(
      property: "@Indexed var shout: String { title.uppercased() }",
      "@Indexed is for stored properties, and 'shout' is not stored: remove it",
      [("Remove '@Indexed'", "var shout: String { title.uppercased() }")]),
    Refusal(
      property: "@Indexed static var count: Int = 0",
      "@Indexed is for stored properties, and 'count' is not stored: remove it",
      [("Remove '@Indexed'", "static var count: Int = 0")]),
    Refusal(
      property: "@Transient @Indexed var count: Int = 0",
      "@Indexed is for stored properties, and 'count' is not stored: remove it",
      [("Remove '@Indexed'", "@Transient var count: Int = 0")]),
    Refusal(
      property: """
        @Indexed var title: String = ""
          override class var indexes: [AttributeIndex] { [] }
        """,
      """
      @Stored writes 'indexes' from the properties with @Indexed: mark all of them, or write \
      'indexes' by hand without the marks
      """),
  ]

  /// A class with two lists of properties to choose from.
  private func compound(_ index: String) -> String {
    """
    @Stored final class Song: StoredObject {
      \(index)
      @Indexed var title: String = ""
      var artist: Artist?
      var songs: [Song] = []
      var tags: [String] = []
      @Dropped(in: 1) var rating: UInt8 = 0
      @Transient var count: Int = 0
      var shout: String { title.uppercased() }
    }
    """
  }

  private func refusal(
    _ index: String, _ message: String, _ cures: [(name: String, line: String)] = []
  ) -> Refusal { Refusal(index, compound(index), message, cures) }

  let compoundIndexes: [Refusal] = [
    refusal(
      "#Index<Song>([\\.tilte, \\.artist])",
      "Song has no stored property 'tilte': it has title, artist, songs, tags"),
    refusal("#Index<Song>()", "write the properties of an index as '[\\.artist, \\.title]'"),
    refusal("#Index<Song>([])", "write the properties of an index as '[\\.artist, \\.title]'"),
    refusal("#Index<Song>(paths)", "write the properties of an index as '[\\.artist, \\.title]'"),
    refusal(
      "#Index<Song>([\"title\"])", "a property of an index is a key path: write '\\.title'"),
    refusal(
      "#Index<Album>([\\.artist, \\.title])",
      "an index in Song is an index of Song, not of Album",
      [("Replace it by 'Song'", "#Index<Song>([\\.artist, \\.title])")]),
    refusal(
      "#Index([\\Album.artist, \\Album.title])",
      "an index is of properties of Song, not of Album"),
    refusal(
      "#Index<Song>([\\.artist, \\.artist])",
      "'artist' is in the index already: remove it"),
    refusal(
      "#Index<Song>([\\.artist, \\.title], [\\.artist, \\.title])",
      "there is an index of 'artist and title' already: remove one of the two"),
    refusal(
      "#Index<Song>([\\.title])",
      "there is an index of 'title' already: remove one of the two"),
    refusal(
      "#Index<Song>([\\.artist, \\.title, \\.a, \\.b])",
      "an index has at most three properties: leave out the last ones"),
    refusal(
      "#Index<Song>([\\.artist, \\.title.count])",
      """
      an index is of the object's own properties, not of those of other objects, which can change \
      without a save of the object
      """),
    refusal(
      "#Index<Song>([\\.title, \\.songs])",
      "a list can't be a part of an index: mark 'songs' @Indexed, by itself"),
    refusal(
      "#Index<Song>([\\.tags, \\.title])",
      "'[String]' has no order for an index: remove 'tags'"),
    refusal(
      "#Index<Song>([\\.rating, \\.title])", "'rating' is dropped: remove it from the index"),
    refusal(
      "#Index<Song>([\\.title, \\.count])",
      "an index is of stored properties, and 'count' is not stored: remove it"),
    refusal(
      "#Index<Song>([\\.title, \\.shout])",
      "an index is of stored properties, and 'shout' is not stored: remove it"),
    Refusal(
      property: """
        #Index<Song>([\\.title, \\.length])
          var title: String = ""
          var length: Double = 0
          class override var indexes: [AttributeIndex] { [] }
        """,
      """
      @Stored writes 'indexes' from the properties with #Index: mark all of them, or write \
      'indexes' by hand without the marks
      """),
  ]

  let texts: [Refusal] = [
    Refusal(
      property: "@FullText var number: Int64 = 0",
      """
      'Int64' is not a text: @FullText is for String and String?; convert it to a text in your own \
      fullTextAttributes
      """, [("Remove '@FullText'", "var number: Int64 = 0")]),
    Refusal(
      property: "@FullText var lines: [String] = []",
      """
      '[String]' is not a text: @FullText is for String and String?; convert it to a text in your \
      own fullTextAttributes
      """, [("Remove '@FullText'", "var lines: [String] = []")]),
    Refusal(
      property: "@FullText var data: Data? = nil",
      """
      'Data?' is not a text: @FullText is for String and String?; convert it to a text in your own \
      fullTextAttributes
      """, [("Remove '@FullText'", "var data: Data? = nil")]),
    Refusal(
      property: "@FullText(weight: 0.0) var title: String = \"\"",
      "a weight must be above 0: remove @FullText from a property that searches should ignore"),
    Refusal(
      property: "@FullText(weight: -1) var title: String = \"\"",
      "a weight must be above 0: remove @FullText from a property that searches should ignore"),
    Refusal(
      property: "@FullText @FullText var title: String = \"\"",
      "'title' is @FullText already: remove one of the two",
      [("Remove '@FullText'", "@FullText var title: String = \"\"")]),
    Refusal(
      property: "@FullText @Dropped(in: 1) var title: String = \"\"",
      "@FullText is for properties that the class still has, and 'title' is dropped: remove it",
      [("Remove '@FullText'", "@Dropped(in: 1) var title: String = \"\"")]),
    Refusal(
      property: "@FullText var shout: String { title.uppercased() }",
      "@FullText is for stored properties, and 'shout' is not stored: remove it",
      [("Remove '@FullText'", "var shout: String { title.uppercased() }")]),
    Refusal(
      property: """
        @FullText var title: String = ""
          override class var fullTextAttributes: [FullTextAttribute] { [] }
        """,
      """
      @Stored writes 'fullTextAttributes' from the properties with @FullText: mark all of them, or \
      write 'fullTextAttributes' by hand without the marks
      """),
  ]
#endif
