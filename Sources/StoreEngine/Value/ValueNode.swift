/// The values of an array, or the values and names of a dictionary.
///
/// A node frees the nodes below it in a loop. Otherwise each node would free those below it while
/// it is freed itself, and a deeply nested value would overflow the stack.
///
/// `@unchecked Sendable`: a node changes only through a holder that has checked that it is the only
/// one, through its own `deinit`, and through the `deinit` of the node that held it last.
final class ValueNode: @unchecked Sendable {
  /// The names, in the order of their bytes; empty for an array.
  var names: [String]
  var values: [StoredValue]
  /// The nesting depth of the values, or more once a deep element was replaced; 1 without nesting.
  var depth: Int

  init(names: [String] = [], values: [StoredValue]) {
    (self.names, self.values) = (names, values)
    depth = Self.depth(of: values)
  }

  private init(copying other: ValueNode) {
    (names, values, depth) = (other.names, other.values, other.depth)
  }

  /// Returns a node with the same values, for another holder.
  func copy() -> ValueNode { ValueNode(copying: self) }

  static func depth(of values: [StoredValue]) -> Int {
    1 + values.reduce(0) { max($0, $1.depth) }
  }

  deinit {
    guard depth > 1 else { return }
    var waiting: [ValueNode] = []
    giveNodes(to: &waiting)
    while var node = waiting.popLast() {
      // If there are other holders, the last of them frees the node.
      if isKnownUniquelyReferenced(&node) { node.giveNodes(to: &waiting) }
    }
  }

  /// Moves the nodes that have nodes below to a list, and removes all values.
  private func giveNodes(to waiting: inout [ValueNode]) {
    for value in values {
      if let node = value.node, node.depth > 1 { waiting.append(node) }
    }
    values = []
  }
}

extension StoredValue {
  /// The node of an array or a dictionary.
  var node: ValueNode? {
    switch self {
    case .array(let elements): elements.node
    case .dictionary(let fields): fields.node
    default: nil
    }
  }

  /// The nesting depth of the value; 0 for a single value.
  ///
  /// Complexity: constant time.
  package var depth: Int { node?.depth ?? 0 }
}
