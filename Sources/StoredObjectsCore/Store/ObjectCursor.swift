import StoreEngine

/// A cursor over the objects of a class, and optionally of its subclasses, in bounded memory.
///
///     var songs = try store.cursor(over: Song.self)
///     while let song = try songs.next() { print(song.title) }
///
/// A cursor returns each object once, with its unsaved changes. It skips objects that are deleted
/// before their turn or inserted after the cursor was made. Cursors can be nested, and you can stop
/// at any point. They stay valid when objects are changed, deleted and saved between two calls,
/// here or by another store.
///
/// It reads ahead by about 64 KiB of records. Objects that you no longer use are freed, so that you
/// can visit a class of any size.
///
/// The order is that of the backend. A cursor belongs to the isolation domain of its store.
public struct ObjectCursor<Object: StoredObject> {
  @usableFromInline var rows: RowCursor
  /// The cursors over subclasses, the next one last.
  @usableFromInline var following: [RowCursor]

  @usableFromInline init(_ rows: RowCursor, following: [RowCursor] = []) {
    (self.rows, self.following) = (rows, following)
  }

  /// Returns the next object, or nil at the end.
  ///
  /// Complexity: constant time, amortized over all calls.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `newerVersion`, `ioError` or `closed`.
  ///   After an error the next call continues behind the record that could not be read.
  @inlinable public mutating func next() throws(StoreError) -> Object? {
    while true {
      // Its classes are `Object` and subclasses: a cast that checks would retain each object.
      if let object = try rows.next() { return unsafe unsafeDowncast(object, to: Object.self) }
      guard let next = following.popLast() else { return nil }
      rows = next
    }
  }
}
