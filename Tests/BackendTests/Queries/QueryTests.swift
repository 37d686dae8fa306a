import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// Every query against a look at all objects.
@Suite("Queries") struct QueryTests {
  private static let titles = [
    "", "A", "a", "Abba", "Åse", "A\u{30A}se", "\u{C5}se", "École", "E\u{301}cole", "Zebra", "中文",
    "中",
    "😀", "a\u{0}b", "a\u{1}b", "Song 1", "Song 10", "Song 2", "e", "\u{FFFF}", "Straße",
  ]
  private static let ratings: [Double] = [
    0, -0.0, 1, -1, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, 3.5,
    -.greatestFiniteMagnitude,
  ]

  private func fill(_ track: Track, _ generator: inout SeededGenerator, _ others: [Track]) {
    track.title = Self.titles.randomElement(using: &generator) ?? ""
    track.seconds = [.min, -1, 0, 1, 200, 300, .max].randomElement(using: &generator) ?? 0
    track.rating = Self.ratings.randomElement(using: &generator) ?? 0
    track.note = [nil, "", "x", "ä", "a\u{308}"].randomElement(using: &generator) ?? nil
    track.isLive = Bool.random(using: &generator)
    track.added = Date(
      timeIntervalSinceReferenceDate: .random(in: -3...3, using: &generator).rounded())
    track.mood = [.calm, .merry, .sad].randomElement(using: &generator) ?? .calm
    track.genre = ["Pop", "Jazz", "Rock"].randomElement(using: &generator) ?? ""
    track.original = Bool.random(using: &generator) ? others.randomElement(using: &generator) : nil
  }

  private typealias Asked = (name: String, predicate: Predicate<Track>, holds: (Track) -> Bool)

  /// Predicates, each with what it means.
  private func predicates(_ generator: inout SeededGenerator, _ others: [Track]) -> [Asked] {
    let title = Self.titles.randomElement(using: &generator) ?? ""
    let other = Self.titles.randomElement(using: &generator) ?? ""
    let seconds: Int32 = [.min, 0, 200, .max].randomElement(using: &generator) ?? 0
    let rating = Self.ratings.randomElement(using: &generator) ?? 0
    let note: String? = [nil, "", "ä"].randomElement(using: &generator) ?? nil
    let wanted = [title, other, "nobody"]
    let moment = Date(timeIntervalSinceReferenceDate: 1)
    var all: [Asked] = []
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
    ask("none", #Predicate { $0.seconds > 5 && $0.seconds < 3 }) {
      $0.seconds > 5 && $0.seconds < 3
    }
    ask("all", #Predicate { _ in true }) { _ in true }
    return all
  }

  private typealias Sorted = (
    name: String, orders: [QueryOrder<Track>], precedes: (Track, Track) -> Bool?
  )

  /// Orders, each with a comparison: nil where two are the same.
  private let orders: [Sorted] = [
    ("none", [], { _, _ in nil }),
    ("title", [.ascending(\.title)], { $0.title == $1.title ? nil : $0.title < $1.title }),
    ("title down", [.descending(\.title)], { $0.title == $1.title ? nil : $0.title > $1.title }),
    (
      "seconds", [.ascending(\.seconds)],
      { $0.seconds == $1.seconds ? nil : $0.seconds < $1.seconds }
    ),
    (
      "genre, live, seconds", [.ascending(\.genre), .ascending(\.isLive), .ascending(\.seconds)],
      {
        if $0.genre != $1.genre { return $0.genre < $1.genre }
        if $0.isLive != $1.isLive { return $1.isLive }
        return $0.seconds == $1.seconds ? nil : $0.seconds < $1.seconds
      }
    ),
    (
      "live, seconds down", [.ascending(\.isLive), .descending(\.seconds)],
      {
        if $0.isLive != $1.isLive { return $1.isLive }
        return $0.seconds == $1.seconds ? nil : $0.seconds > $1.seconds
      }
    ),
    (
      "note", [.descending(\.note)],
      {
        if $0.note == $1.note { return nil }
        guard let left = $0.note else { return false }
        return $1.note.map { left > $0 } ?? true
      }
    ),
  ]

  private func compare(
    _ store: Store, _ asked: Asked, _ sorted: Sorted, _ generator: inout SeededGenerator
  ) throws {
    let all = try store.allObjects(of: Track.self)
    let isDown = sorted.name.hasSuffix("down") || sorted.name == "note"
    let expected = all.filter(asked.holds).sorted { left, right in
      sorted.precedes(left, right) ?? (isDown ? left.rowID > right.rowID : left.rowID < right.rowID)
    }
    let what =
      "\(asked.name) by \(sorted.name), \(try store.explain(Track.self, where: asked.predicate, sortedBy: sorted.orders))"
    let found = try store.fetch(Track.self, where: asked.predicate, sortedBy: sorted.orders)
    #expect(found.map(\.rowID) == expected.map(\.rowID), "\(what)")
    #expect(try store.count(of: Track.self, where: asked.predicate) == expected.count, "\(what)")
    #expect(try store.exists(Track.self, where: asked.predicate) == !expected.isEmpty, "\(what)")
    #expect(
      try store.fetchIDs(Track.self, where: asked.predicate, sortedBy: sorted.orders)
        == expected.map(\.rowID), "\(what)")
    let (offset, limit) = (
      Int.random(in: 0..<6, using: &generator), Int.random(in: 0..<8, using: &generator)
    )
    let part = try store.fetch(
      Track.self, where: asked.predicate, sortedBy: sorted.orders, limit: limit, offset: offset)
    #expect(
      part.map(\.rowID) == expected.dropFirst(offset).prefix(limit).map(\.rowID), "\(what), part")
    var pages: [UInt32] = []
    var last: Track?
    repeat {
      let page = try store.fetch(
        Track.self, where: asked.predicate, sortedBy: sorted.orders, limit: 7, after: last)
      pages += page.map(\.rowID)
      last = page.last
    } while last != nil && pages.count <= expected.count
    #expect(pages == expected.map(\.rowID), "\(what), in pages")
  }

  @Test(
    "A query finds what a look at all objects finds, in its order", arguments: BackendKind.allCases)
  func bruteForce(_ kind: BackendKind) throws {
    try kind.withPlace { place in
      var generator = Seeds.generator(for: "queries \(kind)")
      for round in 0..<3 {
        let backend = try place.open()
        let store = Store(backend: backend)
        try store.register(Track.self)
        var all = try store.allObjects(of: Track.self)
        for step in 0..<4 {
          for _ in 0..<(round == 0 && step == 0 ? 60 : 4) {
            let track = Track()
            fill(track, &generator, all)
            store.insert(track)
            all.append(track)
          }
          for _ in 0..<5 {
            if let track = all.randomElement(using: &generator), !track.isDeleted {
              fill(track, &generator, all.filter { !$0.isDeleted && $0 !== track })
            }
          }
          if let track = all.randomElement(using: &generator) {
            for other in all where other.original === track { other.original = nil }
            store.delete(track)
            all.removeAll { $0 === track }
          }
          let seconds: Int32 = [0, 200].randomElement(using: &generator) ?? 0
          let title = Self.titles.randomElement(using: &generator) ?? ""
          let everything = try store.allObjects(of: Track.self)
          #expect(
            try store.fetch(Track.self, where: \.seconds, is: seconds)
              == everything.filter { $0.seconds == seconds })
          #expect(
            try store.first(Track.self, where: \.title, is: title)
              == everything.first { $0.title == title })
          #expect(try store.fetch(Track.self, where: \.rating, is: .nan) == [])
          for asked in predicates(&generator, all) {
            let sorted = orders.randomElement(using: &generator) ?? orders[0]
            try compare(store, asked, sorted, &generator)
          }
          if step != 1 { try store.saveChanges() }
        }
        #expect(try store.check().findings == [])
        try backend.close()
      }
    }
  }

  @Test("Indexes are used where they help, and explain says so", arguments: BackendKind.allCases)
  func plans(_ kind: BackendKind) throws {
    try kind.withPlace { place in
      let backend = try place.open()
      let store = Store(backend: backend)
      try store.register(Track.self)
      for number in 0..<400 {
        let track = Track()
        track.title = "Song \(number)"
        track.seconds = Int32(number)
        track.genre = ["Pop", "Jazz"][number % 2]
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
      #expect(compound.indexes == ["seconds"], "\(compound)")
      let either = try plan(#Predicate { $0.title == "Song 7" || $0.seconds == 9 })
      #expect(either.indexes.sorted() == ["seconds", "title"] && either.touchedCount == 2)
      let none = try plan(#Predicate { $0.title.contains("7") })
      #expect(none.indexes == [] && none.touchedCount == 400)
      #expect("\(none)".contains("read all objects"))
      try backend.close()
    }
  }

  @Test(
    "Who refers to an object is found through an index, saved or not",
    arguments: BackendKind.allCases)
  func referrers(_ kind: BackendKind) throws {
    try kind.withPlace { place in
      let backend = try place.open()
      let store = Store(backend: backend)
      try store.register(Track.self, Mix.self)
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
      try backend.close()
    }
  }
}
