import StoreEngine

/// Visits the objects of a class, and of its subclasses if you like, each once, in bounded memory.
///
///     var songs = try store.cursor(over: Song.self)
///     while let song = try songs.next() { print(song.title) }
///
/// A cursor gives every object that was there when it was made and has not been deleted by the time
/// its turn comes, with its unsaved changes. It does not give objects inserted later. Cursors may
/// nest, may be left at any point, and go on rightly when objects are changed, deleted and saved
/// between two calls, here or by another store.
///
/// It reads ahead by some 64 KiB of records. Objects that the application lets go of are freed, so
/// that a class of any size can be walked.
///
/// The order is the backend's own. A cursor belongs to the isolation domain of its store.
public struct ObjectCursor<Object: StoredObject> {
  @usableFromInline var rows: RowCursor
  /// Those over subclasses, the next one last.
  @usableFromInline var following: [RowCursor]

  @usableFromInline init(_ rows: RowCursor, following: [RowCursor] = []) {
    (self.rows, self.following) = (rows, following)
  }

  /// The next object, or nil at the end.
  ///
  /// Complexity: constant time, over all calls.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `newerVersion`, `ioError` or `closed`.
  ///   The record that could not be read has had its turn: the next call goes on behind it.
  @inlinable public mutating func next() throws(StoreError) -> Object? {
    while true {
      while let object = try rows.next() {
        if let object = object as? Object { return object }
      }
      guard let next = following.popLast() else { return nil }
      rows = next
    }
  }
}
