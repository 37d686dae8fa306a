import StoreEngine

/// A table of the objects in memory by row ID, which does not retain them.
///
/// Row IDs are dense, so the table is an array of pages rather than a dictionary: an entry takes
/// eight bytes, and pages are allocated and freed with their objects. A million fetched and
/// released objects leave a directory of 256 KiB.
///
/// The page that was used last is remembered, because the next object is often in the same page.
///
/// Entries don't count references, not even `unowned` ones: three atomic operations for each object
/// took a sixth of the time of a scan. They are valid because an object removes its own entry in
/// its `deinit`, before its memory is freed, and because the table belongs to one isolation domain.
/// The runtime traps if an object is looked up in its own `deinit` and retained beyond it.
///
/// Accesses are not checked for exclusivity, because the check costs more than the access: each
/// ends before any code outside of this file runs.
@safe final class UniquingTable {
  private typealias Entry = Unmanaged<StoredObject>?

  @unsafe private struct Page {
    /// One for each row; nil for a page without objects.
    var entries: UnsafeMutablePointer<Entry>?
    var count = 0
  }

  private static let pageBits = 6
  private static let pageSize = 1 << pageBits

  /// Groups of 1024 pages, so that a high row ID does not need room for all rows before it.
  private static let groupBits = 10
  private static let groupSize = 1 << groupBits

  @safe @exclusivity(unchecked)
  private var groups: [UnsafeMutablePointer<Page>?] = unsafe []
  /// The page that was used last; before the first object a page of no group.
  @safe @exclusivity(unchecked)
  private var current: UnsafeMutablePointer<Page>
  /// The number of the current page.
  @safe @exclusivity(unchecked)
  private var currentNumber = -1
  /// Empty pages to reuse: allocating one costs more than everything else here.
  @safe @exclusivity(unchecked)
  private var spares: [UnsafeMutablePointer<Entry>] = unsafe []
  private static let spareLimit = 64
  /// The number of objects in the table.
  @safe @exclusivity(unchecked)
  private(set) var count = 0

  private let noPage: UnsafeMutablePointer<Page>

  init() {
    unsafe noPage = .allocate(capacity: 1)
    unsafe noPage.initialize(to: Page())
    unsafe current = noPage
  }

  deinit {
    for index in unsafe groups.indices {
      guard let group = unsafe groups[index] else { continue }
      for slot in 0..<Self.groupSize { unsafe group[slot].entries?.deallocate() }
      unsafe group.deallocate()
    }
    for index in unsafe spares.indices { unsafe spares[index].deallocate() }
    unsafe noPage.deallocate()
  }

  /// Returns the object of a row if it is in memory.
  ///
  /// Complexity: constant time.
  @inline(__always)
  func object(_ rowID: UInt32) -> StoredObject? {
    guard turn(to: rowID), let entries = unsafe current.pointee.entries,
      let object = unsafe entries[Self.slot(of: rowID)]
    else {
      return nil
    }
    return unsafe object.takeUnretainedValue()
  }

  /// Adds an object under its row.
  ///
  /// Complexity: constant time, except when the directory grows.
  func enter(_ object: StoredObject, _ rowID: UInt32) {
    if !turn(to: rowID) { makeGroup(for: rowID) }
    let entries = unsafe current.pointee.entries ?? makeEntries()
    // Row 0 is shared by all objects for which no row ID was available.
    assert(unsafe rowID == 0 || entries[Self.slot(of: rowID)] == nil, "two objects for a row")
    unsafe entries[Self.slot(of: rowID)] = .passUnretained(object)
    unsafe current.pointee.count += 1
    count += 1
  }

  /// Removes the entry of a row, if it has one.
  func remove(_ rowID: UInt32) {
    guard turn(to: rowID), let entries = unsafe current.pointee.entries else { return }
    assert(
      unsafe rowID == 0 || entries[Self.slot(of: rowID)] != nil,
      "an object that was not entered leaves")
    unsafe entries[Self.slot(of: rowID)] = nil
    unsafe current.pointee.count -= 1
    count -= 1
  }

  /// Returns all objects in memory, in order of their rows.
  ///
  /// Complexity: linear in the number of objects and pages. Retains all objects.
  func allObjects() -> [StoredObject] {
    var objects: [StoredObject] = []
    objects.reserveCapacity(count)
    for index in unsafe groups.indices {
      guard let group = unsafe groups[index] else { continue }
      for page in 0..<Self.groupSize {
        guard let entries = unsafe group[page].entries else { continue }
        for slot in 0..<Self.pageSize {
          guard let object = unsafe entries[slot] else { continue }
          unsafe objects.append(object.takeUnretainedValue())
        }
      }
    }
    return objects
  }
}

// MARK: - Pages

extension UniquingTable {
  @inline(__always)
  private static func slot(of rowID: UInt32) -> Int { Int(rowID) & (pageSize - 1) }

  /// Makes the page of a row the current one, and returns whether there is one.
  @inline(__always)
  private func turn(to rowID: UInt32) -> Bool {
    let number = Int(rowID) >> Self.pageBits
    return number == currentNumber || exchange(number)
  }

  private func exchange(_ number: Int) -> Bool {
    let index = number >> Self.groupBits
    guard unsafe index < groups.count, let group = unsafe groups[index] else { return false }
    if unsafe current.pointee.count == 0 { retire() }
    unsafe current = group + number & (Self.groupSize - 1)
    currentNumber = number
    return true
  }

  /// Takes the entries of the current page, which is empty, for another one.
  private func retire() {
    guard let entries = unsafe current.pointee.entries else { return }
    assert((0..<Self.pageSize).allSatisfy { unsafe entries[$0] == nil }, "not empty")
    if unsafe spares.count < Self.spareLimit {
      unsafe spares.append(entries)
    } else {
      unsafe entries.deallocate()
    }
    unsafe current.pointee.entries = nil
  }

  /// Gives the current page its entries, all empty.
  private func makeEntries() -> UnsafeMutablePointer<Entry> {
    let entries = unsafe spares.popLast() ?? Self.newEntries()
    unsafe current.pointee.entries = entries
    return unsafe entries
  }

  private static func newEntries() -> UnsafeMutablePointer<Entry> {
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: pageSize)
    unsafe entries.initialize(repeating: nil, count: pageSize)
    return unsafe entries
  }

  private func makeGroup(for rowID: UInt32) {
    let number = Int(rowID) >> Self.pageBits
    let index = number >> Self.groupBits
    if unsafe index >= groups.count {
      unsafe groups.append(contentsOf: repeatElement(nil, count: index + 1 - groups.count))
    }
    let group = UnsafeMutablePointer<Page>.allocate(capacity: Self.groupSize)
    unsafe group.initialize(repeating: Page(), count: Self.groupSize)
    unsafe groups[index] = group
    _ = exchange(number)
  }
}
