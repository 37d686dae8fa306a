/// Finds the living object of a row, without keeping it alive.
///
/// Row IDs are dense, so the table is an array of pages rather than a dictionary: an entry costs
/// eight bytes, and pages come and go with their objects. A million fetched and dropped objects leave
/// a directory of 128 KiB behind.
///
/// Entries are `unowned`: the runtime checks them, and an object takes its own entry away in its
/// `deinit`.
///
/// Accesses are not checked for exclusivity, which costs more than they do: each ends before any code
/// outside of this file runs, and the table belongs to one isolation domain.
final class UniquingTable {
  private static let pageBits = 6
  private static let pageSize = 1 << pageBits

  private struct Entry {
    unowned var object: StoredObject?
  }

  private final class Page {
    @safe @exclusivity(unchecked)
    var entries = [Entry](repeating: Entry(object: nil), count: pageSize)
    @safe @exclusivity(unchecked)
    var count = 0
  }

  /// Pages by the thousand, so that one row at the far end costs no room for all rows before it.
  private final class Directory {
    static let bits = 10
    @safe @exclusivity(unchecked)
    var pages = [Page?](repeating: nil, count: 1 << bits)
  }

  @safe @exclusivity(unchecked)
  private var directories: [Directory?] = []
  /// The page that was used last, and its number; the next object often stands in it.
  @safe @exclusivity(unchecked)
  private var lastPage: Page?
  @safe @exclusivity(unchecked)
  private var lastNumber = -1
  /// Emptied pages, to be used again: making one costs more than all else here.
  @safe @exclusivity(unchecked)
  private var spares: [Page] = []
  private static let spareLimit = 64
  /// The number of living objects.
  @safe @exclusivity(unchecked)
  private(set) var count = 0

  /// The living object of a row.
  ///
  /// Complexity: constant time.
  func object(_ rowID: UInt32) -> StoredObject? {
    guard let page = page(Int(rowID) >> Self.pageBits) else { return nil }
    return page.entries[Int(rowID) & (Self.pageSize - 1)].object
  }

  /// Enters an object under its row.
  ///
  /// Complexity: constant time, but for the growth of the directory.
  func enter(_ object: StoredObject, _ rowID: UInt32) {
    let number = Int(rowID) >> Self.pageBits
    let page = page(number) ?? makePage(number)
    page.entries[Int(rowID) & (Self.pageSize - 1)].object = object
    page.count += 1
    count += 1
  }

  /// Removes the entry of a row that has one.
  func remove(_ rowID: UInt32) {
    let number = Int(rowID) >> Self.pageBits
    guard let page = page(number) else { return }
    page.entries[Int(rowID) & (Self.pageSize - 1)].object = nil
    page.count -= 1
    count -= 1
    if page.count == 0 { retire(page, number) }
  }

  private func makePage(_ number: Int) -> Page {
    let page = spares.popLast() ?? Page()
    setPage(number, page)
    return page
  }

  private func retire(_ page: Page, _ number: Int) {
    setPage(number, nil)
    if spares.count < Self.spareLimit { spares.append(page) }
  }

  private func page(_ number: Int) -> Page? {
    if number == lastNumber { return lastPage }
    guard let page = findPage(number) else { return nil }
    (lastNumber, lastPage) = (number, page)
    return page
  }

  private func findPage(_ number: Int) -> Page? {
    let index = number >> Directory.bits
    guard index < directories.count, let directory = directories[index] else { return nil }
    return directory.pages[number & (1 << Directory.bits - 1)]
  }

  private func setPage(_ number: Int, _ page: Page?) {
    (lastNumber, lastPage) = (number, page)
    let index = number >> Directory.bits
    if index >= directories.count {
      directories.append(contentsOf: repeatElement(nil, count: index + 1 - directories.count))
    }
    let directory = directories[index] ?? Directory()
    directories[index] = directory
    directory.pages[number & (1 << Directory.bits - 1)] = page
  }

  /// All living objects, in order of their rows.
  ///
  /// Complexity: linear in the number of objects and pages. Holds them all.
  func allObjects() -> [StoredObject] {
    var objects: [StoredObject] = []
    objects.reserveCapacity(count)
    for case let page? in directories.lazy.compactMap(\.self).flatMap(\.pages) {
      // By index: an iterator gives `Entry?`, and Swift 6.3 takes an empty entry for its nil.
      for index in page.entries.indices {
        if let object = page.entries[index].object { objects.append(object) }
      }
    }
    return objects
  }
}
