import DeepGraphs
import StoredObjectsCore
import Testing

private final class RuledNode: StoredObject, GraphNode {
  @Content var number: UInt32 = 0
  @Content var next: RuledNode?
  @Content var previous: RuledNode?
  @Content var children: [RuledNode] = []
  @Content var parent: RuledNode?
  @Content var list: ObjectList<RuledNode> = []

  override class var relationships: [Relationship] {
    [
      Relationship(\RuledNode.next, deleteRule: .cascade, inverse: \RuledNode.previous),
      Relationship(\RuledNode.children, deleteRule: .cascade, inverse: \RuledNode.parent),
      Relationship(\RuledNode.list, deleteRule: .cascade),
    ]
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(number)
    buffer.write(next)
    buffer.write(previous)
    buffer.write(children)
    buffer.write(parent)
    buffer.write(list)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    number = try buffer.readUInt32()
    next = try buffer.readObject(of: RuledNode.self)
    previous = try buffer.readObject(of: RuledNode.self)
    children = try buffer.readObjects(of: RuledNode.self)
    parent = try buffer.readObject(of: RuledNode.self)
    list = try buffer.readList(of: RuledNode.self)
  }
}

/// The same without relationships, whose deletion cascades by hand.
private final class HandRuledNode: StoredObject, GraphNode {
  @Content var number: UInt32 = 0
  @Content var next: HandRuledNode?
  @Content var children: [HandRuledNode] = []
  @Content var list: ObjectList<HandRuledNode> = []

  override func prepareForDelete() {
    for other in [next].compactMap(\.self) + children + list.array { store?.delete(other) }
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(number)
    buffer.write(next)
    buffer.write(children)
    buffer.write(list)
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    number = try buffer.readUInt32()
    next = try buffer.readObject(of: HandRuledNode.self)
    children = try buffer.readObjects(of: HandRuledNode.self)
    list = try buffer.readList(of: HandRuledNode.self)
  }
}

@Suite("Deep graphs of every shape") struct DeepShapeTests {
  @Test(
    "Objects with relationships are inserted, saved, changed, deleted and freed on a small stack",
    arguments: GraphShape.allCases)
  func relationships(shape: GraphShape) throws { try DeepGraph<RuledNode>.run(shape).get() }

  @Test(
    "The same is true of objects that delete others by hand", arguments: GraphShape.allCases)
  func plain(shape: GraphShape) throws { try DeepGraph<HandRuledNode>.run(shape).get() }
}
