import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

/// Every query against a look at all objects.
@Suite("Queries") struct QueryTests {
  /// Predicates, each with what it means.
  private func predicates(_ generator: inout SeededGenerator, _ others: [Track]) -> [QueryComparison
    .Asked]
  {
    let title = TrackValues.titles.randomElement(using: &generator) ?? ""
    let other = TrackValues.titles.randomElement(using: &generator) ?? ""
    let seconds: Int32 = [.min, 0, 200, .max].randomElement(using: &generator) ?? 0
    let rating = TrackValues.ratings.randomElement(using: &generator) ?? 0
    let note: String? = [nil, "", "ä"].randomElement(using: &generator) ?? nil
    let wanted = [title, other, "nobody"]
    let moment = Date(timeIntervalSinceReferenceDate: 1)
    var all: [QueryComparison.Asked] = []
    func ask(_ name: String, _ predicate: Predicate<Track>, _ holds: @escaping (Track) -> Bool) {
      all.append((name, predicate, holds))
    }
    ask("title ==", #Predicate { $0.title == title }) { $0.title == title }
    ask("title !=", #Predicate { $0.title != title }) { $0.title != title }
    ask("title <", #Predicate { $0.title < title }) { $0.title < title }
    ask("title >=", #Predicate { $0.title >= title }) { $0.title >= title }
    ask("title starts", #Predicate { $0.title.starts(with: title) }) {
      $0.title.starts(with: title)
    }
    ask("title contains", #Predicate { $0.title.contains(title) }) {
      title.isEmpty || $0.title.contains(title)
    }
    ask("title in", #Predicate { wanted.contains($0.title) }) { wanted.contains($0.title) }
    ask("seconds >", #Predicate { $0.seconds > seconds }) { $0.seconds > seconds }
    ask("seconds <= flipped", #Predicate { seconds <= $0.seconds }) { seconds <= $0.seconds }
    ask("between", #Predicate { $0.seconds >= 0 && $0.seconds < 300 }) {
      $0.seconds >= 0 && $0.seconds < 300
    }
    ask("rating ==", #Predicate { $0.rating == rating }) { $0.rating == rating }
    ask("rating !=", #Predicate { $0.rating != rating }) { $0.rating != rating }
    ask("rating <", #Predicate { $0.rating < rating }) { $0.rating < rating }
    ask("rating >", #Predicate { $0.rating > rating }) { $0.rating > rating }
    ask("rating >=", #Predicate { $0.rating >= rating }) { $0.rating >= rating }
    ask("note ==", #Predicate { $0.note == note }) { $0.note == note }
    ask("note is nil", #Predicate { $0.note == nil }) { $0.note == nil }
    ask("note != nil", #Predicate { $0.note != nil }) { $0.note != nil }
    ask("added", #Predicate { $0.added > moment }) { $0.added > moment }
    ask("live", #Predicate { $0.isLive }) { $0.isLive }
    ask("compound", #Predicate { $0.genre == "Pop" && $0.isLive == true && $0.seconds > seconds }) {
      $0.genre == "Pop" && $0.isLive == true && $0.seconds > seconds
    }
    ask("or of one", #Predicate { $0.title == title || $0.title == other }) {
      $0.title == title || $0.title == other
    }
    ask("or of two", #Predicate { $0.title == title || $0.seconds == seconds }) {
      $0.title == title || $0.seconds == seconds
    }
    ask(
      "and or",
      #Predicate { ($0.title == title || $0.seconds > 0) && ($0.seconds < 300 || $0.isLive) }
    ) { ($0.title == title || $0.seconds > 0) && ($0.seconds < 300 || $0.isLive) }
    ask("not", #Predicate { !($0.title == title) && $0.seconds > 0 }) {
      !($0.title == title) && $0.seconds > 0
    }
    ask("sum", #Predicate { $0.rating + 1 > 2 }) { $0.rating + 1 > 2 }
    ask("coalesce", #Predicate { ($0.note ?? "x") == "x" }) { ($0.note ?? "x") == "x" }
    ask("through", #Predicate { $0.original.flatMap { $0.title == title } == true }) {
      $0.original.map { $0.title == title } == true
    }
    if let track = others.filter({ !$0.isDeleted }).randomElement(using: &generator) {
      ask("reference", #Predicate { $0.original == track }) { $0.original === track }
      ask("no such reference", #Predicate { $0.original != track && $0.seconds > seconds }) {
        $0.original !== track && $0.seconds > seconds
      }
      ask("in a list", #Predicate { $0.versions.contains(track) }) { $0.versions.contains(track) }
    }
    ask("title of a reference", #Predicate { $0.original?.title == title }) {
      $0.original?.title == title
    }
    ask("any", #Predicate { $0.versions.contains { $0.title == title } }) {
      $0.versions.contains { $0.title == title }
    }
    ask("all of a list", #Predicate { $0.versions.allSatisfy { $0.seconds > seconds } }) {
      $0.versions.allSatisfy { $0.seconds > seconds }
    }
    ask("none", #Predicate { $0.seconds > 5 && $0.seconds < 3 }) {
      $0.seconds > 5 && $0.seconds < 3
    }
    ask("all", #Predicate { _ in true }) { _ in true }
    return all
  }

  @Test(
    "A query matches a scan of all objects, in its order", arguments: TestedBackend.usual)
  func bruteForce(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      var generator = Seeds.generator(for: "queries \(kind)")
      for round in 0..<3 {
        let store = try location.openStore(of: Track.self)
        var all = try store.allObjects(of: Track.self)
        for step in 0..<4 {
          for _ in 0..<(round == 0 && step == 0 ? 60 : 4) {
            let track = Track()
            track.fill(&generator, all)
            store.insert(track)
            all.append(track)
          }
          for _ in 0..<5 {
            if let track = all.randomElement(using: &generator), !track.isDeleted {
              track.fill(&generator, all.filter { !$0.isDeleted && $0 !== track })
            }
          }
          if let track = all.randomElement(using: &generator) {
            for other in all { other.forget(track) }
            store.delete(track)
            all.removeAll { $0 === track }
          }
          let seconds: Int32 = [0, 200].randomElement(using: &generator) ?? 0
          let title = TrackValues.titles.randomElement(using: &generator) ?? ""
          let everything = try store.allObjects(of: Track.self)
          #expect(
            try store.fetch(Track.self, where: \.seconds, is: seconds)
              == everything.filter { $0.seconds == seconds })
          #expect(
            try store.first(Track.self, where: \.title, is: title)
              == everything.first { $0.title == title })
          #expect(try store.fetch(Track.self, where: \.rating, is: .nan) == [])
          for asked in predicates(&generator, all) {
            try QueryComparison.run(store, asked, &generator)
          }
          if step != 1 { try store.saveChanges() }
        }
        #expect(try store.check().findings == [])
        try store.backend.close()
      }
    }
  }

  @Test("Indexes are used if they help, and explain reports it", arguments: TestedBackend.usual)
  func plans(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let store = try location.openStore(of: Track.self)
      for number in 0..<400 {
        let track = Track()
        track.title = "Song \(number)"
        track.seconds = Int32(number)
        track.genre = ["Pop", "Jazz"][number % 2]
        track.rating = Double(number * 7 % 400)
        store.insert(track)
      }
      try store.saveChanges()
      func plan(
        _ predicate: Predicate<Track>?, _ orders: [QueryOrder<Track>] = [], limit: Int? = nil
      ) throws -> QueryPlan {
        try store.explain(Track.self, where: predicate, sortedBy: orders, limit: limit)
      }
      let equal = try plan(#Predicate { $0.title == "Song 7" })
      #expect(equal.indexes == ["title"] && equal.touchedCount == 1 && equal.isAnsweredByIndex)
      let range = try plan(#Predicate { $0.seconds >= 10 && $0.seconds < 20 })
      #expect(range.indexes == ["seconds"] && range.touchedCount == 10 && range.isAnsweredByIndex)
      let start = try plan(#Predicate { $0.title.starts(with: "Song 39") })
      #expect(start.indexes == ["title"] && start.touchedCount == 11)
      let page = try plan(nil, [.descending(\.title)], limit: 20)
      #expect(page.indexes == ["title"] && page.touchedCount == 20 && page.isOrderedByIndex)
      let compound = try plan(
        #Predicate { $0.genre == "Jazz" && !$0.isLive && $0.seconds > 380 }, [.ascending(\.seconds)]
      )
      #expect(compound.indexes == ["genre, live, seconds"], "\(compound)")
      #expect(compound.touchedCount == 10 && compound.isOrderedByIndex, "\(compound)")
      let either = try plan(#Predicate { $0.title == "Song 7" || $0.seconds == 9 })
      #expect(either.indexes.sorted() == ["seconds", "title"] && either.touchedCount == 2)
      #expect(either.isAnsweredByIndex && "\(either)".contains("\" or \""), "\(either)")
      let within = try plan(#Predicate { (10..<20).contains($0.seconds) })
      #expect(within.indexes == ["seconds"] && within.touchedCount == 10)
      #expect(within.isAnsweredByIndex)
      let outside = try plan(#Predicate { !($0.seconds >= 5) })
      #expect(outside.indexes == ["seconds"] && outside.touchedCount == 5)
      let both = try plan(#Predicate { $0.seconds < 100 && $0.rating < 100 })
      #expect(both.isIntersection && both.indexes.sorted() == ["rating", "seconds"])
      #expect(both.isAnsweredByIndex && both.touchedCount == 100)
      #expect("\(both)".contains("\" and \""), "\(both)")
      let few = try plan(#Predicate { $0.seconds < 2 && $0.rating < 100 })
      #expect(few.indexes == ["seconds"] && !few.isIntersection)
      let none = try plan(#Predicate { $0.title.contains("7") })
      #expect(none.indexes == [] && none.touchedCount == 400)
      #expect("\(none)".contains("read all objects"))
      try store.backend.close()
    }
  }

  @Test("A negative limit or offset is an error of every query")
  func negativePages() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Track.self)
    store.insert(Track())
    func expect(_ message: String, _ body: (Int?, Int) throws -> Void, _ limit: Int?, _ offset: Int)
    {
      let error = #expect(throws: StoreError.self) { try body(limit, offset) }
      #expect(error?.code == .invalidArgument && error?.message.contains(message) == true)
    }
    let any = #Predicate<Track> { $0.seconds < 5 }
    for (limit, offset, message) in [
      (-1, 0, "The limit is -1"), (nil, -1, "The offset is -1"), (.min, .min, "The limit is"),
    ] as [(Int?, Int, String)] {
      for predicate in [nil, any] {
        expect(
          message, { _ = try store.fetchIDs(Track.self, where: predicate, limit: $0, offset: $1) },
          limit, offset)
        expect(
          message, { _ = try store.fetch(Track.self, where: predicate, limit: $0, offset: $1) },
          limit, offset)
        expect(
          message,
          { _ = try store.cursor(over: Track.self, where: predicate, limit: $0, offset: $1) },
          limit, offset)
        expect(
          message, { _ = try store.explain(Track.self, where: predicate, limit: $0, offset: $1) },
          limit, offset)
      }
    }
    #expect(try store.fetchIDs(Track.self, limit: 0, offset: .max) == [])
  }

  @Test("A limit and an offset whose sum overflows return all objects after the offset")
  func largestLimit() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Track.self)
    for number in 0..<40 {
      let track = Track()
      track.title = "Song \(number)"
      store.insert(track)
    }
    try store.saveChanges()
    let orders: [QueryOrder<Track>] = [.ascending(\.title)]
    let plan = try store.explain(Track.self, sortedBy: orders, limit: .max, offset: 1)
    #expect("\(plan)" == "\(try store.explain(Track.self, sortedBy: orders))")
    let all = try store.fetch(Track.self, sortedBy: orders)
    let found = try store.fetch(Track.self, sortedBy: orders, limit: .max, offset: 1)
    #expect(found == Array(all.dropFirst()))
  }

  @Test(
    "Objects that refer to an object are found by an index, saved or not",
    arguments: TestedBackend.usual)
  func referrers(_ kind: TestedBackend) throws {
    try kind.withLocation { location in
      let store = try location.openStore(of: Track.self, Mix.self)
      let tracks = (0..<5).map { _ in Track() }
      for track in tracks { store.insert(track) }
      let mixes = (0..<4).map { number in
        let mix = Mix()
        mix.tracks = [tracks[number], tracks[4], tracks[number]]
        store.insert(mix)
        return mix
      }
      tracks[1].original = tracks[0]
      #expect(try store.referrers(of: tracks[4], through: \Mix.tracks) == mixes)
      try store.saveChanges()
      #expect(try store.referrers(of: tracks[4], through: \Mix.tracks) == mixes)
      #expect(try store.referrers(of: tracks[2], through: \Mix.tracks) == [mixes[2]])
      #expect(try store.referrers(of: tracks[0], through: \Track.original) == [tracks[1]])
      mixes[0].tracks = []
      tracks[1].original = nil
      #expect(try store.referrers(of: tracks[4], through: \Mix.tracks) == Array(mixes[1...]))
      #expect(try store.referrers(of: tracks[0], through: \Track.original) == [])
      try store.saveChanges()
      #expect(try store.referrers(of: tracks[0], through: \Mix.tracks) == [])
      #expect(try store.check().findings == [])
      try store.backend.close()
    }
  }
}
