import Foundation
import StoredObjects

/// Which songs, in which order, and how many of them.
struct SongQuery {
  /// An expression as ``Expression`` has it; all songs, where there is none.
  var condition: String?
  /// Attributes with commas between them, each with a minus before it for the greatest first.
  var order: String?
  var limit: Int?
  var offset = 0

  private func predicate() throws(Failure) -> Predicate<Song>? {
    guard let condition else { return nil }
    return SongPredicate.of(try ExpressionParser.parse(condition))
  }

  private func orders() throws(Failure) -> [QueryOrder<Song>] {
    var orders: [QueryOrder<Song>] = []
    for part in order?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
      let word = part.filter { !$0.isWhitespace }
      let isDescending = word.hasPrefix("-")
      let name = isDescending ? String(word.dropFirst()) : word
      guard let attribute = SongAttribute(name) else {
        let near = didYouMean(name, SongAttribute.allCases.map(\.rawValue))
        throw Failure("--sort takes \(SongAttribute.names), not \(quoted(name)).\(near)")
      }
      orders.append(attribute.order(isDescending: isDescending))
    }
    return orders
  }

  /// The songs.
  func songs(in library: Library) throws -> [Song] {
    try library.store.fetch(
      Song.self, where: predicate(), sortedBy: orders(), limit: limit, offset: offset)
  }

  /// How the store would find them.
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
