import StoreEngine

/// The elements that lists have lost by deletions, so that they can come back where they were.
struct Losses {
  private var lists: [List] = []
  /// Where an object stands in them; filled when it is first needed.
  private var indices: [ObjectIdentifier: [(list: List, index: Int)]] = [:]
  private var knownCount = 0

  /// The elements that one change of a list has taken out of it.
  final class List {
    let object: StoredObject
    let end: RelationshipEnd
    /// How many lists came before.
    let serial: Int
    /// In the order of the list.
    let elements: [LostElement]
    private var isBack: [Bool]

    init(
      _ elements: [LostElement], of object: StoredObject, _ end: RelationshipEnd, serial: Int
    ) {
      (self.object, self.end, self.elements, self.serial) = (object, end, elements, serial)
      isBack = Array(repeating: false, count: elements.count)
    }

    /// The changes that put some elements back among those that are still there.
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

  /// Takes note of what a list has lost.
  mutating func append(
    _ elements: [LostElement], of object: StoredObject, _ end: RelationshipEnd
  ) {
    if elements.isEmpty { return }
    lists.append(List(elements, of: object, end, serial: lists.count))
  }

  /// Where an object was lost; it is so only once.
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
