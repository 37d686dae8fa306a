import StoreEngine

/// Walks through the objects that a query finds, one by one.
///
///     var cursor = try store.cursor(over: Song.self, where: #Predicate { $0.seconds > 200 })
///     while let song = try cursor.next() { print(song.title) }
///
/// Where an index gives the order, or none is asked for, it holds some hundred row numbers or, for
/// the latter, four bytes for each object that an index leads to; otherwise the keys of all objects
/// that are found, to sort them. Objects are made as they are asked for, and held by nobody but
/// you.
///
/// Unsaved changes count as they are when the walk begins; what is saved meanwhile may be found or
/// not, but no object comes twice, unless a save moves it to a place that is still to come.
public struct QueryCursor<Object: StoredObject> {
  @usableFromInline var walk: QueryWalk
  /// Those of several classes, where subclasses are included.
  @usableFromInline var merge: QueryMerge?

  init(_ walk: QueryWalk) { self.walk = walk }

  init(_ merge: QueryMerge, first: QueryWalk) { (walk, self.merge) = (first, merge) }

  /// The next object, or nil at the end.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `newerVersion`, `notEvaluable`,
  ///   `ioError` or `closed`.
  @inlinable public mutating func next() throws(StoreError) -> Object? {
    if merge != nil { return try merge?.next() as? Object }
    return try walk.next() as? Object
  }
}
