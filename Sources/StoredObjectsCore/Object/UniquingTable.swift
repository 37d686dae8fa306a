import StoreEngine

/// A table of the objects in memory by row ID, which does not retain them.
///
/// Row IDs are dense, so the table is an array of pages rather than a dictionary: an entry takes
/// eight bytes, and pages are allocated and freed with their objects. A million fetched and
/// released objects leave a directory of 384 KiB.
///
/// The page that was used last is kept outside of the directory, because the next object is often
/// in the same page.
///
/// Entries are `unowned`: the runtime checks them, and an object removes its own entry in its
/// `deinit`.
///
/// Accesses are not checked for exclusivity, because the check costs more than the access: each
/// ends before any code outside of this file runs, and the table belongs to one isolation domain.
final class UniquingTable {
  private static let pageBits = 6
  private static let pageSize = 1 << pageBits

  private struct Entry {
    unowned var object: StoredObject?
  }

  private struct Page {
    /// One for each row; empty for a page without objects.
    var entries: [Entry] = []
    var count = 0
  }

  /// Groups of 1024 pages, so that a high row ID does not need room for all rows before it.
  private static let directoryBits = 10
  private static let directoryMask = 1 << directoryBits - 1

  @safe @exclusivity(unchecked)
  private var directories: [[Page]] = []
  /// The page that was used last, which is not in the directory.
  @safe @exclusivity(unchecked)
  private var current = Page()
  /// The number of the current page.
  @safe @exclusivity(unchecked)
  private var currentNumber = 0
  /// Empty pages to reuse: allocating one costs more than everything else here.
  @safe @exclusivity(unchecked)
  private var spares: [[Entry]] = []
  private static let spareLimit = 64
  /// The number of objects in the table.
  @safe @exclusivity(unchecked)
  private(set) var count = 0

  /// Returns the object of a row if it is in memory.
  ///
  /// Complexity: constant time.
  func object(_ rowID: UInt32) -> StoredObject? {
    turn(to: Int(rowID) >> Self.pageBits)
    let index = Int(rowID) & (Self.pageSize - 1)
    return index < current.entries.count ? current.entries[index].object : nil
  }

  /// Adds an object under its row.
  ///
  /// Complexity: constant time, except when the directory grows.
  func enter(_ object: StoredObject, _ rowID: UInt32) {
    turn(to: Int(rowID) >> Self.pageBits)
    if current.entries.isEmpty { current.entries = makeEntries() }
    // Row 0 is shared by all objects for which no row ID was available.
    assert(
      rowID == 0 || current.entries[Int(rowID) & (Self.pageSize - 1)].object == nil,
      "two objects for a row")
    current.entries[Int(rowID) & (Self.pageSize - 1)].object = object
    current.count += 1
    count += 1
  }

  /// Removes the entry of a row, if it has one.
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

  /// Accesses entries by index, see ``append(_:to:)``.
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

  /// Exchanges the current page with one in the directory; does nothing if the directory lacks it.
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

  /// Returns all objects in memory, in order of their rows.
  ///
  /// Complexity: linear in the number of objects and pages. Retains all objects.
  func allObjects() -> [StoredObject] {
    var objects: [StoredObject] = []
    objects.reserveCapacity(count)
    // So that the loop reaches the current page.
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
    // By index: an iterator returns `Entry?`, and Swift 6.3 mistakes an empty entry for its nil.
    for index in page.entries.indices {
      if let object = page.entries[index].object { objects.append(object) }
    }
  }
}
