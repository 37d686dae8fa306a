/// Finds the living object of a row, without keeping it alive.
///
/// Row IDs are dense, so the table is an array of pages rather than a dictionary: an entry costs
/// eight bytes, and pages come and go with their objects. A million fetched and dropped objects leave
/// a directory of 128 KiB behind.
///
/// Entries are `unowned`: the runtime checks them, and an object takes its own entry away in its
/// `deinit`.
final class UniquingTable {
  private static let pageBits = 6
  private static let pageSize = 1 << pageBits

  private struct Entry {
    unowned var object: StoredObject?
  }

  private final class Page {
    var entries = [Entry](repeating: Entry(object: nil), count: pageSize)
    var count = 0
  }

  private var pages: [Page?] = []
  /// The page that was emptied last.
  ///
  /// It stays: the next object often stands in it.
  private var emptyPage: Int?
  /// The number of living objects.
  private(set) var count = 0

  /// The living object of a row.
  ///
  /// Complexity: constant time.
  func object(_ rowID: UInt32) -> StoredObject? {
    let number = Int(rowID) >> Self.pageBits
    guard number < pages.count, let page = pages[number] else { return nil }
    return page.entries[Int(rowID) & (Self.pageSize - 1)].object
  }

  /// Enters an object under its row.
  ///
  /// Complexity: constant time, but for the growth of the directory.
  func enter(_ object: StoredObject, _ rowID: UInt32) {
    let number = Int(rowID) >> Self.pageBits
    if number >= pages.count {
      pages.append(contentsOf: repeatElement(nil, count: number + 1 - pages.count))
    }
    let page = pages[number] ?? Page()
    if page.count == 0 { pages[number] = page }
    page.entries[Int(rowID) & (Self.pageSize - 1)].object = object
    page.count += 1
    count += 1
  }

  /// Removes the entry of a row that has one.
  func remove(_ rowID: UInt32) {
    let number = Int(rowID) >> Self.pageBits
    guard number < pages.count, let page = pages[number] else { return }
    page.entries[Int(rowID) & (Self.pageSize - 1)].object = nil
    page.count -= 1
    count -= 1
    if page.count == 0 { retire(number) }
  }

  private func retire(_ number: Int) {
    if let emptyPage, emptyPage != number, pages[emptyPage]?.count == 0 { pages[emptyPage] = nil }
    emptyPage = number
  }

  /// All living objects, in order of their rows.
  ///
  /// Complexity: linear in the number of objects and pages. Holds them all.
  func allObjects() -> [StoredObject] {
    var objects: [StoredObject] = []
    objects.reserveCapacity(count)
    for case let page? in pages {
      // By index: an iterator gives `Entry?`, and Swift 6.3 takes an empty entry for its nil.
      for index in page.entries.indices {
        if let object = page.entries[index].object { objects.append(object) }
      }
    }
    return objects
  }
}
