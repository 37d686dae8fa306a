import StoreEngine

/// An iterator over the objects that a query finds.
///
///     var cursor = try store.cursor(over: Song.self, where: #Predicate { $0.seconds > 200 })
///     while let song = try cursor.next() { print(song.title) }
///
/// The cursor creates each object when you ask for it; only your own references keep it alive. The
/// memory of the cursor depends on the order:
///
/// - If an index provides the order: a few hundred row numbers.
/// - Without an order: a few hundred row numbers, or four bytes for each object that an index leads
///   to.
/// - With any other order: the sort keys of all objects that are found.
///
/// Unsaved changes count as they are when the walk begins. A change that is saved during the walk
/// may be found or not. No object comes twice, unless a save moves it to a place that is still
/// ahead.
public struct QueryCursor<Object: StoredObject> {
  @usableFromInline var walk: QueryWalk
  /// The merged walks of several classes, if subclasses are included.
  @usableFromInline var merge: QueryMerge?

  init(_ walk: QueryWalk) { self.walk = walk }

  init(_ merge: QueryMerge, first: QueryWalk) { (walk, self.merge) = (first, merge) }

  /// Returns the next object, or nil at the end.
  ///
  /// Complexity: for all calls together, as ``Store/fetch(_:where:sortedBy:limit:offset:after:)``.
  /// Unless an index provides the order, the first call may examine all objects of the class.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `newerVersion`, `notEvaluable`,
  ///   `ioError` or `closed`.
  @inlinable public mutating func next() throws(StoreError) -> Object? {
    guard let object = try merge != nil ? merge?.next() : walk.next() else { return nil }
    // Of `Object` or a subclass: a cast that checks would retain each object.
    return unsafe unsafeDowncast(object, to: Object.self)
  }
}
