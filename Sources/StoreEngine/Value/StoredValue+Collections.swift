import Files

extension StoredValue {
  /// The values of an array, in their order.
  ///
  /// It is a collection like any other; `Array(elements)` makes an array of it.
  public struct Elements: Sendable {
    var node: ValueNode

    /// Creates elements from an array.
    ///
    /// Complexity: linear in the number of elements.
    public init(_ elements: [StoredValue]) { node = ValueNode(values: elements) }

    /// Copies the node if it is shared, before a change.
    mutating func makeUnique() {
      if !isKnownUniquelyReferenced(&node) { node = node.copy() }
    }
  }

  /// The values of a dictionary, in the order of the bytes of their names.
  ///
  /// Names are equal only if their bytes are: "é" and "e" with a combining accent are two names.
  public struct Fields: Sendable {
    var node: ValueNode

    /// Creates fields from a dictionary.
    ///
    /// Complexity: O(n log n).
    public init(_ dictionary: [String: StoredValue]) {
      self.init(dictionary.map { ($0.key, $0.value) })
    }

    /// Creates fields from names and values; for a repeated name, the last value counts.
    ///
    /// Complexity: O(n log n).
    public init(_ fields: [(String, StoredValue)]) {
      // The sort is stable, so the last of several equal names comes last.
      let sorted = fields.sorted { $0.0.utf8Order($1.0) < 0 }
      var names: [String] = []
      var values: [StoredValue] = []
      names.reserveCapacity(sorted.count)
      values.reserveCapacity(sorted.count)
      for (name, value) in sorted {
        if let last = names.last, last.utf8Order(name) == 0 {
          values[values.count - 1] = value
        } else {
          names.append(name)
          values.append(value)
        }
      }
      node = ValueNode(names: names, values: values)
    }

    /// Creates fields from names that are in order.
    package init(names: [String], values: [StoredValue]) {
      node = ValueNode(names: names, values: values)
    }

    /// The names, in the order of their bytes.
    public var keys: [String] { node.names }
    /// The values, in the order of their names.
    public var values: [StoredValue] { node.values }

    /// The value for a name, or nil.
    ///
    /// Complexity: O(log n) to read, O(n) to set.
    public subscript(name: String) -> StoredValue? {
      get {
        let (position, isThere) = position(of: name)
        // A plain `nil` would be the value `.null` here.
        return isThere ? Optional(node.values[position]) : Optional.none
      }
      set {
        let (position, isThere) = position(of: name)
        if !isKnownUniquelyReferenced(&node) { node = node.copy() }
        switch (newValue, isThere) {
        case (let value?, true): node.values[position] = value
        case (let value?, false):
          node.names.insert(name, at: position)
          node.values.insert(value, at: position)
        case (nil, true):
          node.names.remove(at: position)
          node.values.remove(at: position)
        case (nil, false): return
        }
        node.depth = ValueNode.depth(of: node.values)
      }
    }

    /// Returns the index of a name, or the index at which to insert it.
    private func position(of name: String) -> (position: Int, isThere: Bool) {
      var (low, high) = (0, node.names.count)
      while low < high {
        let middle = (low + high) / 2
        let order = node.names[middle].utf8Order(name)
        if order == 0 { return (middle, true) }
        if order < 0 { low = middle + 1 } else { high = middle }
      }
      return (low, false)
    }
  }
}

extension StoredValue.Elements: RandomAccessCollection, MutableCollection,
  RangeReplaceableCollection, ExpressibleByArrayLiteral
{
  /// Creates an empty collection.
  public init() { self.init([]) }
  /// Creates elements from a literal.
  ///
  /// Complexity: linear in the number of elements.
  public init(arrayLiteral elements: StoredValue...) { self.init(elements) }

  /// The first index, which is 0.
  public var startIndex: Int { 0 }
  /// The number of elements.
  public var endIndex: Int { node.values.count }

  /// The element at an index.
  ///
  /// Complexity: constant time to get. Setting is linear in the number of elements if another
  /// collection shares them, or if a shallower value replaces the deepest; otherwise constant time.
  public subscript(index: Int) -> StoredValue {
    get { node.values[index] }
    set {
      makeUnique()
      let old = node.values[index].depth
      let mayBeShallower = newValue.depth < old && old + 1 == node.depth
      node.values[index] = newValue
      node.depth =
        mayBeShallower
        ? ValueNode.depth(of: node.values) : Swift.max(node.depth, 1 + newValue.depth)
    }
  }

  /// Replaces a range of elements.
  ///
  /// Complexity: linear in the number of all elements.
  public mutating func replaceSubrange(
    _ range: Range<Int>, with elements: some Collection<StoredValue>
  ) {
    makeUnique()
    node.values.replaceSubrange(range, with: elements)
    node.depth = ValueNode.depth(of: node.values)
  }

  /// Adds an element at the end.
  ///
  /// Complexity: amortized constant time.
  public mutating func append(_ element: StoredValue) {
    makeUnique()
    node.values.append(element)
    node.depth = Swift.max(node.depth, 1 + element.depth)
  }
}

extension StoredValue.Fields: RandomAccessCollection, ExpressibleByDictionaryLiteral {
  /// Creates fields from a literal; for a repeated name, the last value counts.
  ///
  /// Complexity: O(n log n).
  public init(dictionaryLiteral elements: (String, StoredValue)...) { self.init(elements) }

  /// The first index, which is 0.
  public var startIndex: Int { 0 }
  /// The number of fields.
  public var endIndex: Int { node.values.count }
  /// The name and the value at an index.
  public subscript(index: Int) -> (key: String, value: StoredValue) {
    (node.names[index], node.values[index])
  }
}

extension String {
  /// Compares the bytes of two strings; the result is below, above or equal to zero.
  package func utf8Order(_ other: String) -> Int {
    lendUTF8 { bytes in other.lendUTF8 { bytes.compare($0) } }
  }
}
