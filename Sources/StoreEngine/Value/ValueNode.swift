/// The values of an array, or of a dictionary with their names.
///
/// A node frees the nodes below it one after the other. Without that, each would free those below
/// it while it is freed itself, and a value that is nested deep would use up the stack.
///
/// `@unchecked Sendable`: a node is changed only by a holder that knows itself to be the only one,
/// and by its own `deinit` and that of a node that held it last.
final class ValueNode: @unchecked Sendable {
  /// The names, in the order of their bytes; empty for an array.
  var names: [String]
  var values: [StoredValue]
  /// How deep values are nested in the node; 1 when it holds no other one.
  var depth: Int

  init(names: [String] = [], values: [StoredValue]) {
    (self.names, self.values) = (names, values)
    depth = Self.depth(of: values)
  }

  private init(copying other: ValueNode) {
    (names, values, depth) = (other.names, other.values, other.depth)
  }

  /// A node with the same values, for a holder of its own.
  func copy() -> ValueNode { ValueNode(copying: self) }

  static func depth(of values: [StoredValue]) -> Int {
    1 + values.reduce(0) { max($0, $1.depth) }
  }

  deinit {
    guard depth > 1 else { return }
    var waiting: [ValueNode] = []
    giveNodes(to: &waiting)
    while var node = waiting.popLast() {
      // One that somebody else holds too is freed by the last holder.
      if isKnownUniquelyReferenced(&node) { node.giveNodes(to: &waiting) }
    }
  }

  /// Leaves the nodes that have others below to a list, and has no values afterwards.
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

  /// How deep values are nested in this one; 0 for a single value.
  ///
  /// Complexity: constant time.
  package var depth: Int { node?.depth ?? 0 }
}
