#if Macros
  import DeepGraphs
  import StoredObjects
  import Testing

  @Stored final class GraphObject: StoredObject, GraphNode {
    var number: UInt32 = 0
    @Relationship(deleteRule: .cascade, inverse: \GraphObject.previous) var next: GraphObject?
    var previous: GraphObject?
    @Relationship(deleteRule: .cascade, inverse: \GraphObject.parent) var children: [GraphObject] =
      []
    var parent: GraphObject?
    @Relationship(deleteRule: .cascade) var list: ObjectList<GraphObject> = []
  }

  @Suite("Deep graphs of @Stored objects") struct DeepStoredShapeTests {
    @Test(
      "They are inserted, saved, fetched, changed, deleted and freed on a small stack",
      arguments: GraphShape.allCases)
    func relationships(shape: GraphShape) throws { try DeepGraph<GraphObject>.run(shape).get() }
  }
#endif
