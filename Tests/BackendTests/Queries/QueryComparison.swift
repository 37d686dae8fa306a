import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

/// Compares what queries find with what a look at all objects finds.
enum QueryComparison {
  typealias Asked = (name: String, predicate: Predicate<Track>, holds: (Track) -> Bool)
  private typealias Sorted = (
    name: String, orders: [QueryOrder<Track>], precedes: (Track, Track) -> Bool?
  )

  /// Orders, each with a comparison: nil where two are the same.
  private static var orders: [Sorted] {
    [
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
  }

  /// Asks in one of the orders, and compares all ways to ask with a look at all objects.
  static func run(
    _ store: Store, _ asked: Asked, _ generator: inout SeededGenerator
  ) throws {
    let orders = orders
    let sorted = orders.randomElement(using: &generator) ?? orders[0]
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
    // Behind an object that may be none of those that are found.
    if let index = all.randomElement(using: &generator) {
      let behind = expected.filter {
        sorted.precedes(index, $0)
          ?? (isDown ? index.rowID > $0.rowID : index.rowID < $0.rowID)
      }
      let page = try store.fetch(
        Track.self, where: asked.predicate, sortedBy: sorted.orders, limit: 9, after: index)
      #expect(
        page.map(\.rowID) == behind.prefix(9).map(\.rowID), "\(what), behind \(index.rowID)")
    }
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
}

extension Track {
  /// Takes values that are easily taken for each other.
  func fill(_ generator: inout SeededGenerator, _ others: [Track]) {
    title = TrackValues.titles.randomElement(using: &generator) ?? ""
    seconds = TrackValues.seconds.randomElement(using: &generator) ?? 0
    rating = TrackValues.ratings.randomElement(using: &generator) ?? 0
    note = TrackValues.notes.randomElement(using: &generator) ?? nil
    isLive = Bool.random(using: &generator)
    added = TrackValues.moments.randomElement(using: &generator) ?? added
    mood = [.calm, .merry, .sad].randomElement(using: &generator) ?? .calm
    genre = TrackValues.genres.randomElement(using: &generator) ?? ""
    original = Bool.random(using: &generator) ? others.randomElement(using: &generator) : nil
    versions = (0..<Int.random(in: 0..<4, using: &generator)).compactMap { _ in
      others.randomElement(using: &generator)
    }
  }

  /// Drops the references to a track that is going to be deleted.
  func forget(_ track: Track) {
    if original === track { original = nil }
    if versions.contains(track) { versions.removeAll { $0 === track } }
  }
}
