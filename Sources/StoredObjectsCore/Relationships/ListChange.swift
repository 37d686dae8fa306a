import StoreEngine

/// A change to a list or a set that the other side of a relationship requires.
struct ListChange {
  /// The object to add or to remove.
  let object: StoredObject
  let kind: Kind

  enum Kind {
    /// An exact or a minimum number of occurrences.
    ///
    /// Missing ones are appended; of too many, the last ones are removed.
    case count(Int, isMinimum: Bool)
    /// No occurrence, because the object is being deleted.
    case deletion
    /// An occurrence at an index of the changed list, because the object is inserted again.
    ///
    /// Ignored if the object is already in the list.
    case restoration(index: Int)
  }

  /// Whether the object is in the list after the change.
  var isPresent: Bool {
    switch kind {
    case .count(let count, _): count > 0
    case .deletion: false
    case .restoration: true
    }
  }
}

/// An element that was removed from a list by a deletion.
struct LostElement {
  let object: StoredObject
  /// The index of the element in the list before the changes that removed it.
  let index: Int
}

/// The effect of successive changes on a list whose objects are identified by a key.
struct ChangedList {
  /// The class and the row of an object, or its identity.
  ///
  /// It is a number, so that this code is not generic, which would be slow.
  typealias Key = UInt64

  /// The indices of the removed elements, in ascending order.
  private(set) var removed: [Int] = []
  /// The inserted elements, by their indices in the changed list.
  private(set) var inserted: [LostElement] = []
  /// The elements that deletions removed, in the order of the list.
  private(set) var lost: [LostElement] = []
  private var appended: [Appended] = []
  /// The objects that change, and the index of each in `counts`.
  private var counts: [Count] = []
  private var indices: [Key: Int] = [:]

  /// An appended element; nil if a later change has removed it.
  fileprivate struct Appended {
    var object: StoredObject?
    /// The index at which the same object was appended before.
    let previous: Int
  }

  /// Determines the effect of changes.
  ///
  /// An object without a key can't be in the list yet.
  ///
  /// Complexity: linear in the length of the list and the number of changes.
  init(
    _ elements: some BidirectionalCollection<Key>, _ changes: [ListChange],
    key: (StoredObject) -> Key?
  ) {
    indices.reserveCapacity(changes.count)
    counts.reserveCapacity(changes.count)
    appended.reserveCapacity(changes.count)
    let changed = changes.map { change in key(change.object).map { index(of: change.object, $0) } }
    for element in elements { if let index = indices[element] { counts[index].old += 1 } }
    for (change, index) in zip(changes, changed) {
      if let index {
        counts[index].note(change, &appended, &inserted)
      } else if case .count(let count, _) = change.kind {
        appended += Array(repeating: Appended(object: change.object, previous: -1), count: count)
      }
    }
    removeOld(elements)
    inserted.sort { $0.index < $1.index }
  }

  private mutating func index(of object: StoredObject, _ key: Key) -> Int {
    let index = indices[key, default: counts.count]
    if index == counts.count {
      indices[key] = index
      counts.append(Count(object: object))
    }
    return index
  }

  /// The elements appended to the list.
  var appendedObjects: [StoredObject] { appended.compactMap(\.object) }

  /// Whether the list does not change.
  var isEmpty: Bool {
    removed.isEmpty && inserted.isEmpty && appended.allSatisfy { $0.object == nil }
  }

  /// Determines the removed elements: the last occurrences of each object.
  private mutating func removeOld(_ elements: some BidirectionalCollection<Key>) {
    var left = counts.reduce(0) { $0 + $1.removed }
    var index = elements.count
    for element in elements.reversed() {
      if left == 0 { break }
      index -= 1
      guard let position = indices[element], counts[position].removed > 0 else { continue }
      counts[position].removed -= 1
      left -= 1
      removed.append(index)
      if counts[position].isDeleted {
        lost.append(LostElement(object: counts[position].object, index: index))
      }
    }
    removed.reverse()
    lost.reverse()
  }

  /// Returns the elements after the changes.
  func applied<Element>(
    to list: some Collection<Element>, element: (StoredObject) -> Element?
  ) -> [Element] {
    var result: [Element] = []
    result.reserveCapacity(list.count + inserted.count + appended.count)
    var (leaving, coming) = (removed[...], inserted[...])
    for (index, kept) in list.enumerated() {
      if leaving.first == index {
        leaving.removeFirst()
        continue
      }
      while let next = coming.first, next.index <= result.count {
        if let element = element(next.object) { result.append(element) }
        coming.removeFirst()
      }
      result.append(kept)
    }
    for late in coming { if let element = element(late.object) { result.append(element) } }
    for late in appended {
      if let object = late.object, let element = element(object) { result.append(element) }
    }
    return result
  }
}

/// The number of occurrences of an object in a list, while changes are processed.
private struct Count {
  let object: StoredObject
  /// The number of occurrences in the list, and of those that are removed.
  var old = 0
  var removed = 0
  /// Whether they were removed by a deletion.
  var isDeleted = false
  /// The number of appended occurrences, and the index of the last one.
  var new = 0
  var lastNew = -1

  init(object: StoredObject) { self.object = object }

  private var present: Int { old - removed + new }

  mutating func note(
    _ change: ListChange, _ appended: inout [ChangedList.Appended],
    _ inserted: inout [LostElement]
  ) {
    switch change.kind {
    case .count(let wanted, let isMinimum):
      while present < wanted {
        appended.append(.init(object: change.object, previous: lastNew))
        (lastNew, new) = (appended.count - 1, new + 1)
      }
      while !isMinimum, present > wanted { removeLast(&appended) }
    case .deletion:
      isDeleted = true
      while present > 0 { removeLast(&appended) }
    case .restoration(let index):
      if old == 0 { inserted.append(LostElement(object: object, index: index)) }
    }
  }

  private mutating func removeLast(_ appended: inout [ChangedList.Appended]) {
    guard new > 0 else { return removed += 1 }
    appended[lastNew].object = nil
    (lastNew, new) = (appended[lastNew].previous, new - 1)
  }
}
