import StoreEngine

/// Finds the living object of a row, without keeping it alive.
///
/// Row IDs are dense, so the table is an array of pages rather than a dictionary: an entry costs
/// eight bytes, and pages come and go with their objects. A million fetched and dropped objects
/// leave a directory of 384 KiB behind.
///
/// The page that was used last is taken out of the directory, because the next object often stands
/// in it, too.
///
/// Entries are `unowned`: the runtime checks them, and an object takes its own entry away in its
/// `deinit`.
///
/// Accesses are not checked for exclusivity, which costs more than they do: each ends before any
/// code outside of this file runs, and the table belongs to one isolation domain.
final class UniquingTable {
  private static let pageBits = 6
  private static let pageSize = 1 << pageBits

  private struct Entry {
    unowned var object: StoredObject?
  }

  private struct Page {
    /// One for each row; none at all for a page without objects.
    var entries: [Entry] = []
    var count = 0
  }

  /// Pages by the thousand, so that one row at the far end costs no room for all rows before it.
  private static let directoryBits = 10
  private static let directoryMask = 1 << directoryBits - 1

  @safe @exclusivity(unchecked)
  private var directories: [[Page]] = []
  /// The page that was used last, which is not in the directory now.
  @safe @exclusivity(unchecked)
  private var current = Page()
  /// Its number.
  @safe @exclusivity(unchecked)
  private var currentNumber = 0
  /// Emptied pages, to be used again: making one costs more than all else here.
  @safe @exclusivity(unchecked)
  private var spares: [[Entry]] = []
  private static let spareLimit = 64
  /// The number of living objects.
  @safe @exclusivity(unchecked)
  private(set) var count = 0

  /// The living object of a row.
  ///
  /// Complexity: constant time.
  func object(_ rowID: UInt32) -> StoredObject? {
    turn(to: Int(rowID) >> Self.pageBits)
    let index = Int(rowID) & (Self.pageSize - 1)
    return index < current.entries.count ? current.entries[index].object : nil
  }

  /// Enters an object under its row.
  ///
  /// Complexity: constant time, but for the growth of the directory.
  func enter(_ object: StoredObject, _ rowID: UInt32) {
    turn(to: Int(rowID) >> Self.pageBits)
    if current.entries.isEmpty { current.entries = makeEntries() }
    // Row 0 is for all objects that could get none.
    assert(
      rowID == 0 || current.entries[Int(rowID) & (Self.pageSize - 1)].object == nil,
      "two objects for a row")
    current.entries[Int(rowID) & (Self.pageSize - 1)].object = object
    current.count += 1
    count += 1
  }

  /// Removes the entry of a row that has one.
  func remove(_ rowID: UInt32) {
    turn(to: Int(rowID) >> Self.pageBits)
    if current.entries.isEmpty { return }
    assert(current.count > 0 && count > 0, "an object that was not entered leaves")
    current.entries[Int(rowID) & (Self.pageSize - 1)].object = nil
    current.count -= 1
    count -= 1
    if current.count == 0 { retire() }
  }

  private func makeEntries() -> [Entry] {
    spares.popLast() ?? [Entry](repeating: Entry(object: nil), count: Self.pageSize)
  }

  private func retire() {
    assert(isCurrentEmpty, "a page is retired with an object")
    if spares.count < Self.spareLimit { spares.append(current.entries) }
    current.entries = []
  }

  /// By index, see ``append(_:to:)``.
  private var isCurrentEmpty: Bool {
    current.entries.indices.allSatisfy { current.entries[$0].object == nil }
  }

  /// Makes a page the current one.
  @inline(__always)
  private func turn(to number: Int) {
    if number != currentNumber { exchange(number) }
  }

  private func exchange(_ number: Int) {
    if !current.entries.isEmpty { makeRoom(for: currentNumber) }
    swap(with: currentNumber)
    swap(with: number)
    currentNumber = number
  }

  /// Exchanges the current page for that in the directory; where it has none, there is nothing.
  private func swap(with number: Int) {
    let (index, slot) = (number >> Self.directoryBits, number & Self.directoryMask)
    guard index < directories.count, !directories[index].isEmpty else { return }
    Swift.swap(&current, &directories[index][slot])
  }

  private func makeRoom(for number: Int) {
    let index = number >> Self.directoryBits
    if index >= directories.count {
      directories.append(contentsOf: repeatElement([], count: index + 1 - directories.count))
    }
    if directories[index].isEmpty {
      directories[index] = [Page](repeating: Page(), count: 1 << Self.directoryBits)
    }
  }

  /// All living objects, in order of their rows.
  ///
  /// Complexity: linear in the number of objects and pages. Holds them all.
  func allObjects() -> [StoredObject] {
    var objects: [StoredObject] = []
    objects.reserveCapacity(count)
    // So that its turn comes.
    makeRoom(for: currentNumber)
    for index in directories.indices {
      for (slot, page) in directories[index].enumerated() {
        let isCurrent = index << Self.directoryBits | slot == currentNumber
        append(isCurrent ? current : page, to: &objects)
      }
    }
    return objects
  }

  private func append(_ page: Page, to objects: inout [StoredObject]) {
    // By index: an iterator gives `Entry?`, and Swift 6.3 takes an empty entry for its nil.
    for index in page.entries.indices {
      if let object = page.entries[index].object { objects.append(object) }
    }
  }
}
