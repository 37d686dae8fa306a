public import StoredObjectsCore

/// An object for graphs of any depth.
///
/// Every reference cascades when its object is deleted.
public protocol GraphNode: StoredObject {
  /// The position in the graph.
  var number: UInt32 { get set }
  /// A reference to one object, with an inverse.
  var next: Self? { get set }
  /// References whose inverse is a reference to one object.
  var children: [Self] { get set }
  /// References without an inverse.
  var list: ObjectList<Self> { get set }
}

/// The shape of the references between the objects of a graph.
public enum GraphShape: CaseIterable, Sendable {
  /// Each object refers to the next.
  case chain
  /// Each object refers to the next, and the last to the first.
  case cycle
  /// Each object refers to the next by a list that is packed when it is read.
  case listChain
  /// Every other object refers to a leaf and to the next branch.
  case tree

  /// Makes objects in no store or in one refer to each other; all can be reached from the first.
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

  /// Returns the number of objects that can be reached, and reads each of them.
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
