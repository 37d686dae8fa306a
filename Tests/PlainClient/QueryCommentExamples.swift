// The code of comments, unchanged: a test compares. It is compiled, and not run.
// swift-format-ignore-file

#if Macros
  import Foundation
  import Observation
  import StoredObjects

  /// From Alphabet.swift.
  extension Alphabet {
    static let welsh = Alphabet(
      "c ch", "d dd", "f ff", "g ng", "l ll", "p ph", "r rh", "t th")
  }

  enum QueryComments {
    static var store: Store = notRun()
    static var song: Song = notRun()
    static var hit: SearchHit<Song> = notRun()
    static var badge: CommentLabel = notRun()
    static var list: SongList = notRun()
    static var titles: [String] = notRun()
    static var change: ResultsChange<Song> = notRun()
    static var songs: LiveResults<Song> = notRun()

    @Stored final class Song: StoredObject {
      @Indexed var title = ""
      @Indexed var artist = ""
      @Indexed var artistName = ""
      @Indexed var genre = ""
      @Indexed var added = Date()
      var tags: [String] = []
      var seconds = 0
      var plays = 0
      var isLive = false
    }

    @Stored final class Playlist: StoredObject { @Indexed var songs: [Song] = [] }

    struct SongList { func apply(_ change: ResultsChange<Song>) {} }
    static func close() {}

    /// From LiveCount.swift.
    static func liveCountExample() async throws {
      let unheard = try store.liveCount(of: Song.self, where: #Predicate { $0.plays == 0 })
      for await count in unheard.values() { badge.text = "\(count)" }
      _ = unheard
    }

    /// From LiveObject.swift.
    static func liveObjectExample() async throws {
      let current = try store.liveObject(song.id)
      for await change in current.changes() where change == .deleted { close() }
      _ = current
    }

    /// From LiveResults.swift.
    static func liveResultsExample() throws {
      let songs = try store.results(
        Song.self, where: #Predicate { $0.plays > 100 }, sortedBy: [.ascending(\.title)])
      print(songs.count, songs[0].title)
      _ = songs
    }

    /// From LiveResults.swift.
    static func liveResults2Example() async throws {
      for await change in songs.changes() { list.apply(change) }
    }

    /// From ResultsChange.swift.
    static func resultsChangeExample() throws {
      let gone = change.removed.map(\.place.index) + change.moved.map(\.from.index)
      for index in gone.sorted().reversed() { titles.remove(at: index) }
      let new = change.inserted.map(\.place.index) + change.moved.map(\.to.index)
      for index in new.sorted() { titles.insert(songs[index].title, at: index) }
      for row in change.updated { titles[row.place.index] = songs[row.place.index].title }
      _ = (gone, new)
    }

    /// From SectionedResults.swift.
    static func sectionedResultsExample() throws {
      let songs = try store.results(
        Song.self, sortedBy: [.ascending(\.title)], sections: \.artistName)
      for section in songs.sections { print(section.value, section.objects.count) }
      _ = songs
    }

    /// From Store+LiveResults.swift.
    static func storeLiveResultsExample() throws {
      let songs = try store.results(
        Song.self, where: #Predicate { $0.plays > 100 }, sortedBy: [.ascending(\.title)])
      _ = songs
    }

    /// From QueryCursor.swift.
    static func queryCursorExample() throws {
      var cursor = try store.cursor(over: Song.self, where: #Predicate { $0.seconds > 200 })
      while let song = try cursor.next() { print(song.title) }
      _ = cursor
    }

    /// From QueryOrder.swift.
    static func queryOrderExample() throws {
      let songs = try store.fetch(
        Song.self, sortedBy: [.ascending(\.artist), .descending(\.seconds)])
      _ = songs
    }

    /// From Store+Batches.swift.
    static func storeBatchesExample() throws {
      try store.update(Song.self, where: #Predicate { $0.genre == "Jaz" }, savingEvery: 1000) {
        $0.genre = "Jazz"
      }
    }

    /// From Store+QueryingSubclasses.swift.
    static func storeQueryingSubclassesExample() throws {
      let songs = try store.fetch(
        Song.self, includingSubclasses: true, where: #Predicate { $0.seconds > 200 },
        sortedBy: [.ascending(\.title)], limit: 20)
      _ = songs
    }

    /// From Store+QueryingSubclasses.swift.
    static func storeQueryingSubclasses2Example() throws {
      let ids = try store.fetchObjectIDs(Song.self, where: #Predicate { $0.seconds > 200 })
      _ = ids
    }

    /// From Store+Referrers.swift.
    static func storeReferrersExample() throws {
      let lists = try store.referrers(of: song, through: \Playlist.songs)
      _ = lists
    }

    /// From Store+Values.swift.
    static func storeValuesExample() throws {
      let song = try store.first(Song.self, where: \.title, is: "Sunny")
      _ = song
    }

    /// From Store+Aggregates.swift.
    static func storeAggregatesExample() throws {
      let genres = try store.distinctValues(of: \Song.genre)
      _ = genres
    }

    /// From Store+Aggregates.swift.
    static func storeAggregates2Example() throws {
      for group in try store.groups(of: Song.self, by: \.genre) {
        print(group.value, group.count)
      }
    }

    /// From Store+Aggregates.swift.
    static func storeAggregates3Example() throws {
      for group in try store.groups(of: Song.self, by: \.genre, summing: \.seconds) {
        print(group.value, group.count, group.numbers.sum, group.numbers.average ?? 0)
      }
    }

    /// From Store+Extremes.swift.
    static func storeExtremesExample() throws {
      let oldest = try store.minimum(of: \Song.added)
      _ = oldest
    }

    /// From Store+PropertyValues.swift.
    static func storePropertyValuesExample() throws {
      let titles = try store.values(of: Song.self, \.title, where: #Predicate { $0.isLive })
      _ = titles
    }

    /// From Store+PropertyValues.swift.
    static func storePropertyValues2Example() throws {
      for (title, seconds) in try store.values(of: Song.self, \.title, \.seconds) {
        print(title, seconds)
      }
    }

    /// From Alphabet.swift.
    static func alphabetExample() throws {
      let songs = try store.fetch(Song.self, sortedBy: [.ascending(\.title[.swedish])])
      _ = songs
    }

    /// From Alphabet.swift.
    @Values static func alphabet3Example() throws -> [Any] {
      AttributeIndex("title in Swedish", \Song.title[.swedish])
      try store.fetch(Song.self, sortedBy: [.ascending(\.title[.swedish])], limit: 50)
    }

    /// From FoldedString.swift.
    @Values static func foldedStringExample() throws -> [Any] {
      "Beyoncé".folded == "BEYONCE"
      "Straße".folded == "strasse"
    }

    /// From FoldedString.swift.
    @Values static func foldedString2Example() throws -> [Any] {
      AttributeIndex("folded title", \Song.title.folded)
      try store.fetch(
        Song.self, where: #Predicate { $0.title.folded == "halo" },
        sortedBy: [.ascending(\.title.folded)])
    }

    /// From FullTextAttribute.swift.
    static func fullTextAttributeExample() throws {
      let hits = try store.search(Song.self, "sunny OR walk*", limit: 20)
      _ = hits
    }

    /// From FullTextAttribute.swift.
    @Values static func fullTextAttribute2Example() throws -> [Any] {
      FullTextAttribute("tags") { (song: Song) in song.tags.joined(separator: "\n") }
    }

    /// From SearchHit.swift.
    @Values static func searchHitExample() throws -> [Any] {
      hit.snippet.marked("<b>", "</b>")     // …sunny <b>Choice</b> of…
    }

    /// From TextQuery.swift.
    @Values static func textQueryExample() throws -> [Any] {
      TextQuery.word("choice")                                  // the word
      TextQuery.prefix("choi") && !TextQuery.word("rock")       // words, and words to be without
      TextQuery.allWords("what the user has typed")             // never an error
      try TextQuery(parsing: "choi* AND NOT rock")              // a text with operators
    }
  }
#endif
