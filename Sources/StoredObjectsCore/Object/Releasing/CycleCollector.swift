import StoreEngine

/// Frees objects that are only referenced by each other, when their store is freed.
///
/// No code can reach such objects afterwards. An object that anything else references is kept, with
/// everything that can be reached from it. References that the layout of a class does not show,
/// such as those of a closure, count as references from elsewhere. Such an object is kept, too.
struct CycleCollector {
  private var objects: [StoredObject] = []
  private var layouts: [ReferenceLayout] = []
  private var positions: [ObjectIdentifier: Int] = [:]
  private var isReached: [Bool] = []

  /// Frees unreachable objects among the objects in memory of some classes.
  ///
  /// Complexity: linear in the number of objects whose class has references, and of the references.
  static func run(_ classes: [RegisteredClass]) {
    var collector = CycleCollector(classes)
    if collector.objects.isEmpty { return }
    collector.reach(from: collector.heldElsewhere())
    collector.dissolveUnreached()
  }

  private init(_ classes: [RegisteredClass]) {
    for entry in classes {
      guard entry.livingCount > 0, let layout = entry.references else { continue }
      for object in entry.livingObjects {
        positions[ObjectIdentifier(object)] = objects.count
        objects.append(object)
        layouts.append(layout)
      }
    }
    isReached = Array(repeating: false, count: objects.count)
  }

  /// Returns the objects with more references than those from each other and this collector.
  private func heldElsewhere() -> [Int] {
    var counts = Array(repeating: 1, count: objects.count)
    for index in objects.indices { visit(index) { counts[$0] += 1 } }
    let holderCounts = Self.holderCounts(of: objects.map { StoredObject.Memory(of: $0) })
    return objects.indices.filter { holderCounts[$0] > counts[$0] }
  }

  /// Returns the reference count of each object.
  ///
  /// If the optimizer can see the objects themselves, it may retain one a little longer, which
  /// would count.
  @inline(never)
  private static func holderCounts(of memories: [StoredObject.Memory]) -> [Int] {
    memories.map(\.holderCount)
  }

  private func visit(_ index: Int, _ body: (Int) -> Void) {
    layouts[index].visitObjects(heldBy: objects[index]) { held in
      if let position = positions[ObjectIdentifier(held)] { body(position) }
    }
  }

  private mutating func reach(from roots: [Int]) {
    var found = roots
    for root in roots { isReached[root] = true }
    while let next = found.popLast() {
      var held: [Int] = []
      visit(next) { held.append($0) }
      for position in held where !isReached[position] {
        isReached[position] = true
        found.append(position)
      }
    }
  }

  private func dissolveUnreached() {
    let queue = ReleaseQueue.current
    for index in objects.indices where !isReached[index] {
      layouts[index].dissolve(objects[index], contentOnly: false, into: queue)
    }
    queue.empty()
  }
}
