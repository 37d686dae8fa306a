import StoreEngine

/// The elements that deletions have removed from lists, so that they can be restored in place.
struct Losses {
  private var lists: [List] = []
  /// The losses of each object; filled when they are first needed.
  private var indices: [ObjectIdentifier: [(list: List, index: Int)]] = [:]
  private var knownCount = 0

  /// The elements that a single change removed from a list.
  final class List {
    let object: StoredObject
    let end: RelationshipEnd
    /// The number of lists recorded before this one.
    let serial: Int
    /// The elements in the order of the list.
    let elements: [LostElement]
    private var isBack: [Bool]

    init(
      _ elements: [LostElement], of object: StoredObject, _ end: RelationshipEnd, serial: Int
    ) {
      (self.object, self.end, self.elements, self.serial) = (object, end, elements, serial)
      isBack = Array(repeating: false, count: elements.count)
    }

    /// Returns the changes that restore some of the elements at their places.
    func restorations(of indices: [Int]) -> [ListChange] {
      for index in indices { isBack[index] = true }
      let wanted = Set(indices)
      var missing = 0
      return elements.indices.compactMap { index in
        let element = elements[index]
        if !isBack[index] { missing += 1 }
        guard wanted.contains(index) else { return nil }
        return ListChange(
          object: element.object, kind: .restoration(index: element.index - missing))
      }
    }
  }

  /// Records the elements that a list has lost.
  mutating func append(
    _ elements: [LostElement], of object: StoredObject, _ end: RelationshipEnd
  ) {
    if elements.isEmpty { return }
    lists.append(List(elements, of: object, end, serial: lists.count))
  }

  /// Removes and returns the losses of an object.
  mutating func take(_ object: StoredObject) -> [(list: List, index: Int)] {
    for list in lists[knownCount...] {
      for (index, element) in list.elements.enumerated() {
        indices[ObjectIdentifier(element.object), default: []].append((list, index))
      }
    }
    knownCount = lists.count
    return indices.removeValue(forKey: ObjectIdentifier(object)) ?? []
  }

  mutating func removeAll() { self = Losses() }
}
