import Foundation
import StoredObjects

/// A query for songs, with an order, a limit and an offset.
struct SongQuery {
  /// The text of an ``Expression``; nil for all songs.
  var condition: String?
  /// The attributes to sort by, with commas between them and a minus for descending order.
  var order: String?
  var limit: Int?
  var offset = 0

  private func predicate() throws(Failure) -> Predicate<Song>? {
    guard let condition else { return nil }
    return SongPredicate.of(try Expression(condition))
  }

  private func orders() throws(Failure) -> [QueryOrder<Song>] {
    var orders: [QueryOrder<Song>] = []
    for part in order?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
      let word = part.filter { !$0.isWhitespace }
      let isDescending = word.hasPrefix("-")
      let name = isDescending ? String(word.dropFirst()) : word
      guard let attribute = SongAttribute(name) else {
        let near = didYouMean(name, SongAttribute.allCases.map(\.rawValue))
        throw Failure("--sort needs \(SongAttribute.names), not \(quoted(name)).\(near)")
      }
      orders.append(attribute.order(isDescending: isDescending))
    }
    return orders
  }

  /// Returns the songs.
  func songs(in library: Library) throws -> [Song] {
    try library.store.fetch(
      Song.self, where: predicate(), sortedBy: orders(), limit: limit, offset: offset)
  }

  /// Returns the query plan of the store.
  func plan(in library: Library) throws -> QueryPlan {
    try library.store.explain(
      Song.self, where: predicate(), sortedBy: orders(), limit: limit, offset: offset)
  }
}

extension SongAttribute {
  fileprivate func order(isDescending: Bool) -> QueryOrder<Song> {
    func order<Value: IndexableValue>(_ path: KeyPath<Song, Value>) -> QueryOrder<Song> {
      isDescending ? .descending(path) : .ascending(path)
    }
    switch self {
    case .id: return order(\.number)
    case .title: return order(\.title)
    case .artist: return order(\.artist)
    case .album: return order(\.album)
    case .location: return order(\.location)
    case .time: return order(\.milliseconds)
    }
  }
}
