extension StoredValue: Hashable {
  /// Returns whether both values are the same; an `int` never equals a `double`.
  ///
  /// Complexity: linear in the value, without recursion.
  public static func == (left: StoredValue, right: StoredValue) -> Bool {
    var waiting: [(ValueNode, ValueNode)] = []
    guard left.matches(right, &waiting) else { return false }
    while let (left, right) = waiting.popLast() {
      if left === right { continue }
      guard left.values.count == right.values.count, left.names == right.names else {
        return false
      }
      for index in left.values.indices {
        guard left.values[index].matches(right.values[index], &waiting) else { return false }
      }
    }
    return true
  }

  /// Compares single values, and adds the nodes of two arrays or dictionaries to `waiting`.
  private func matches(_ other: StoredValue, _ waiting: inout [(ValueNode, ValueNode)]) -> Bool {
    switch (self, other) {
    case (.null, .null): return true
    case (.bool(let left), .bool(let right)): return left == right
    case (.int(let left), .int(let right)): return left == right
    case (.unsigned(let left), .unsigned(let right)): return left == right
    case (.double(let left), .double(let right)): return left == right
    case (.string(let left), .string(let right)): return left == right
    case (.data(let left), .data(let right)): return left == right
    case (.date(let left), .date(let right)): return left == right
    case (.array(let left), .array(let right)): waiting.append((left.node, right.node))
    case (.dictionary(let left), .dictionary(let right)):
      waiting.append((left.node, right.node))
    default: return false
    }
    return true
  }

  /// Hashes the value.
  ///
  /// Complexity: linear in the value, without recursion.
  public func hash(into hasher: inout Hasher) {
    hashSingle(into: &hasher)
    guard let node else { return }
    var waiting = [node]
    while let node = waiting.popLast() {
      hasher.combine(node.names)
      hasher.combine(node.values.count)
      for value in node.values {
        value.hashSingle(into: &hasher)
        if let below = value.node { waiting.append(below) }
      }
    }
  }

  private func hashSingle(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .unsigned(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .string(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value)
    case .array: hasher.combine(1)
    case .dictionary: hasher.combine(2)
    }
  }
}

extension StoredValue.Elements: Hashable {
  /// Returns whether both collections hold the same values.
  ///
  /// Complexity: linear in the values, without recursion.
  public static func == (left: Self, right: Self) -> Bool {
    StoredValue.array(left) == .array(right)
  }

  /// Hashes the values.
  ///
  /// Complexity: linear in the values, without recursion.
  public func hash(into hasher: inout Hasher) { StoredValue.array(self).hash(into: &hasher) }
}

extension StoredValue.Fields: Hashable {
  /// Returns whether both collections hold the same values for the same names.
  ///
  /// Complexity: linear in the names and values, without recursion.
  public static func == (left: Self, right: Self) -> Bool {
    StoredValue.dictionary(left) == .dictionary(right)
  }

  /// Hashes the names and values.
  ///
  /// Complexity: linear in the names and values, without recursion.
  public func hash(into hasher: inout Hasher) { StoredValue.dictionary(self).hash(into: &hasher) }
}

extension StoredValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private static let deepestShown = 64

  /// The value as a literal, with "…" for values that are nested more than 64 deep.
  public var description: String { text(depth: 0) }
  /// The value as a literal.
  public var debugDescription: String { description }
  /// A mirror without children, so that mirroring a deep value does not recurse.
  public var customMirror: Mirror { Mirror(self, children: []) }

  private func text(depth: Int) -> String {
    switch self {
    case .null: "nil"
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .double(let value): "\(value)"
    case .string(let value): value.debugDescription
    case .data(let value): "\(value)"
    case .date(let value): "\(value)"
    case .array(let elements):
      depth < Self.deepestShown
        ? "[\(elements.map { $0.text(depth: depth + 1) }.joined(separator: ", "))]" : "[…]"
    case .dictionary(let fields): text(of: fields, depth: depth)
    }
  }

  private func text(of fields: Fields, depth: Int) -> String {
    if fields.isEmpty { return "[:]" }
    guard depth < Self.deepestShown else { return "[…]" }
    let words = fields.map { "\($0.key.debugDescription): \($0.value.text(depth: depth + 1))" }
    return "[\(words.joined(separator: ", "))]"
  }
}

extension StoredValue.Elements: CustomStringConvertible, CustomReflectable {
  /// The values as a literal.
  public var description: String { StoredValue.array(self).description }
  /// A mirror of the values.
  public var customMirror: Mirror {
    Mirror(self, unlabeledChildren: self, displayStyle: .collection)
  }
}

extension StoredValue.Fields: CustomStringConvertible, CustomReflectable {
  /// The names and values as a literal.
  public var description: String { StoredValue.dictionary(self).description }
  /// A mirror of the names and values.
  public var customMirror: Mirror {
    Mirror(self, unlabeledChildren: self, displayStyle: .dictionary)
  }
}
