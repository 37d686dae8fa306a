public import StoredObjectsCore

/// An object of which graphs of any depth are made.
///
/// Every reference cascades when its object is deleted.
public protocol GraphNode: StoredObject {
  /// Its place in the graph.
  var number: UInt32 { get set }
  /// With an inverse, a reference to one object.
  var next: Self? { get set }
  /// With an inverse, a reference to one object.
  var children: [Self] { get set }
  /// Without an inverse.
  var list: ObjectList<Self> { get set }
}

/// How the objects of a graph refer to each other.
public enum GraphShape: CaseIterable, Sendable {
  /// Each to the next.
  case chain
  /// Each to the next, and the last to the first.
  case cycle
  /// Each to the next by a list that is packed when it is read.
  case listChain
  /// Every other one to a leaf and to the next branch.
  case tree

  /// Lets objects in no store or in one refer to each other; all can be reached from the first.
  func link<Node: GraphNode>(_ nodes: [Node]) {
    for (index, node) in nodes.enumerated() {
      node.number = UInt32(index)
      let next = index + 1 < nodes.count ? nodes[index + 1] : nil
      switch self {
      case .chain: node.next = next
      case .cycle: node.next = next ?? nodes[0]
      case .listChain: node.list = next.map { [$0] } ?? []
      case .tree where index % 2 == 0:
        node.children = [next, index + 2 < nodes.count ? nodes[index + 2] : nil].compactMap(\.self)
      case .tree: break
      }
    }
  }

  /// The number of objects that can be reached, each read.
  func count<Node: GraphNode>(from first: Node) -> Int {
    var found: Set<Node> = [first]
    var toVisit = [first]
    while let node = toVisit.popLast() {
      for other in [node.next].compactMap(\.self) + node.children + node.list.array
      where found.insert(other).inserted {
        toVisit.append(other)
      }
    }
    return found.count
  }
}
