import StoreEngine
import StoredObjectsCore

/// The end of a walk through the records of several classes.
struct WalkEnd {
  /// The position to continue from; nil if all records have been read.
  var cursor: String?
  /// The number of objects that were looked at so far, and of all.
  var progress: (done: Int, of: Int)
}

extension BrowsedState {
  /// Reads the records of several classes, one class after another, until there are enough results
  /// or time is up.
  ///
  /// - Parameters:
  ///   - classes: The classes.
  ///   - cursor: The end of an earlier walk through the same classes; nil for the beginning.
  ///   - deadline: The time at which to stop.
  ///   - body: Called with some records of a class; returns whether there are enough results.
  /// - Returns: Where the walk has ended.
  /// - Throws: ``BrowsingError`` with `invalid`; ``/StoreEngine/StoreError``; an error of the
  ///   closure.
  func walk(
    _ classes: [BrowsedClass], from cursor: String?, until deadline: ContinuousClock.Instant,
    _ body: (_ rows: [(rowID: UInt32, bytes: [UInt8])], BrowsedClass) throws -> Bool
  ) throws -> WalkEnd {
    var (start, row) = try Self.position(cursor, classes.count)
    var progress = (
      done: classes.prefix(start).reduce(0) { $0 + $1.objectCount },
      of: classes.reduce(0) { $0 + $1.objectCount }
    )
    while start < classes.count {
      let known = classes[start]
      var next: UInt32? = row
      while let after = next {
        let found = try records(
          of: known, .after(after), limit: Self.batchRows, maximumLookUps: 16 * Self.batchRows)
        let isEnough = try body(found.rows, known)
        next = found.last
        if let next, isEnough || ContinuousClock.now >= deadline {
          let share = Double(next) / Double(max(1, known.metadata?.lastRowID ?? 1))
          progress.done += Int(Double(known.objectCount) * share)
          return WalkEnd(cursor: "\(start) \(next)", progress: progress)
        }
      }
      progress.done += known.objectCount
      (start, row) = (start + 1, 0)
    }
    return WalkEnd(cursor: nil, progress: progress)
  }

  private static func position(_ cursor: String?, _ count: Int) throws -> (Int, UInt32) {
    guard let cursor else { return (0, 0) }
    let parts = cursor.split(separator: " ")
    guard parts.count == 2, let start = Int(parts[0]), (0..<count).contains(start),
      let row = UInt32(parts[1])
    else { throw BrowsingError(.invalid, "The position \"\(cursor)\" is not valid.") }
    return (start, row)
  }
}
