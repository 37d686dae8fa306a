import StoreEngine

extension ObjectList: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
  /// The first index, 0.
  public var startIndex: Int { 0 }

  /// The number of elements.
  public var endIndex: Int {
    switch storage {
    case .objects(let objects): objects.count
    case .packed(let references): references.rowIDs.count
    }
  }

  /// Accesses the element at an index.
  ///
  /// Complexity: constant time. An element of a list that was read becomes a fault if it is not in
  /// memory; its record is read when one of its properties is.
  public subscript(index: Int) -> Element {
    get {
      switch storage {
      case .objects(let objects): return objects[index]
      case .packed(let references):
        guard let object = references.object(at: index) as? Element else {
          preconditionFailure("A list was read for objects of another class.")
        }
        return object
      }
    }
    set { replaceSubrange(index..<index + 1, with: CollectionOfOne(newValue)) }
  }

  /// Replaces the elements in a range.
  ///
  /// Complexity: linear in the number of new elements and of the elements behind them; creates no
  /// objects.
  public mutating func replaceSubrange(
    _ range: Range<Int>, with newElements: some Collection<Element>
  ) {
    switch take() {
    case .objects(var objects):
      objects.replaceSubrange(range, with: newElements)
      storage = .objects(objects)
    case .packed(var references):
      if newElements.allSatisfy(references.canPack) {
        references.replace(range, with: newElements.lazy.map { $0 as StoredObject })
        storage = .packed(references)
      } else {
        storage = .packed(references)
        holdObjects()
        replaceSubrange(range, with: newElements)
      }
    }
  }

  /// Reserves memory for a number of elements.
  ///
  /// Complexity: linear in the number of elements, which are copied if memory has to grow.
  public mutating func reserveCapacity(_ count: Int) {
    switch take() {
    case .objects(var objects):
      objects.reserveCapacity(count)
      storage = .objects(objects)
    case .packed(var references):
      references.reserveCapacity(count)
      storage = .packed(references)
    }
  }

  /// Switches to the storage that retains its objects, which can contain any object.
  private mutating func holdObjects() { storage = .objects(Array(self)) }
}

// MARK: - Without creating objects

extension ObjectList {
  /// Returns whether an object is an element.
  ///
  /// Complexity: linear in the number of elements; creates no objects.
  public func contains(_ object: Element) -> Bool { firstIndex(of: object) != nil }

  /// Returns the first index of an object, or nil.
  ///
  /// Complexity: linear in the number of elements; creates no objects.
  public func firstIndex(of object: Element) -> Int? {
    switch storage {
    case .objects(let objects): objects.firstIndex { $0 === object }
    case .packed(let references): references.firstIndex(of: object)
    }
  }

  /// Returns the last index of an object, or nil.
  ///
  /// Complexity: linear in the number of elements; creates no objects.
  public func lastIndex(of object: Element) -> Int? {
    switch storage {
    case .objects(let objects): objects.lastIndex { $0 === object }
    case .packed(let references): references.lastIndex(of: object)
    }
  }

  /// Removes all occurrences of an object, and returns how many there were.
  ///
  /// Complexity: linear in the number of elements; creates no objects.
  @discardableResult
  public mutating func removeAll(_ object: Element) -> Int {
    let before = count
    switch take() {
    case .objects(var objects):
      objects.removeAll { $0 === object }
      storage = .objects(objects)
    case .packed(var references):
      references.removeAll(object)
      storage = .packed(references)
    }
    return before - count
  }
}

extension ObjectList: Equatable {
  /// Returns whether both lists have the same objects in the same order.
  ///
  /// Complexity: linear in the number of elements.
  public static func == (left: ObjectList, right: ObjectList) -> Bool {
    if case .packed(let first) = left.storage, case .packed(let second) = right.storage,
      first.entry === second.entry
    {
      return first.hasSameObjects(as: second)
    }
    return left.elementsEqual(right) { $0 === $1 }
  }
}
