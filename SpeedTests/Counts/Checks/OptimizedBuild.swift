import Foundation
import StoredObjectsCore
import Synchronization

/// A class whose subclass has its index.
private class Work: StoredObject {
  @Content var title = ""
  override class var indexes: [AttributeIndex] { [AttributeIndex("title", \Work.title)] }
  override func writeContent(to buffer: inout DataBuffer) throws { buffer.write(title) }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
  }
}

private final class Album: Work {}

/// An object that is part of reference cycles of every kind.
private final class Loop: StoredObject {
  static let living = Atomic(0)
  @Content var next: Loop?
  @Content var others: [Loop] = []
  @Content var list: ObjectList<Loop> = []
  var helper: Loop?
  var plain: [Loop] = []

  required init() {
    super.init()
    Self.living.wrappingAdd(1, ordering: .relaxed)
  }
  deinit { Self.living.wrappingSubtract(1, ordering: .relaxed) }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(next)
    buffer.write(others)
    buffer.write(list)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    next = try buffer.readObject(of: Loop.self)
    others = try buffer.readObjects(of: Loop.self)
    list = try buffer.readList(of: Loop.self)
  }
}

/// Checks for faults of optimized builds, which tests without the optimizer can't find.
enum OptimizedBuild {
  /// Returns the faults.
  static func faults() throws -> [String] {
    var faults: [String] = []
    if try !usesInheritedIndex() { faults.append("A query of a subclass uses no inherited index.") }
    let left = try objectsLeftOfCycles()
    if left != 1 { faults.append("\(left) objects of 31 outlive their store, and not one.") }
    return faults
  }

  private static func usesInheritedIndex() throws -> Bool {
    let store = Store(backend: try MemoryBackend())
    try store.register(Work.self, Album.self)
    for number in 0..<200 {
      let album = Album()
      album.title = "\(number)"
      store.insert(album)
    }
    try store.saveChanges()
    let plan = try store.explain(Album.self, where: #Predicate { $0.title == "7" })
    return plan.indexes == ["title"]
  }

  private static func objectsLeftOfCycles() throws -> Int {
    var kept: Loop?
    do {
      let store = Store(backend: try MemoryBackend())
      try store.register(Loop.self)
      let loops = (0..<30).map { _ in Loop() }
      for (index, loop) in loops.enumerated() {
        let next = loops[index / 3 * 3 + (index + 1) % 3]
        (loop.next, loop.others, loop.list) = (next, [next, loop, next], [next])
        (loop.helper, loop.plain) = (next, [loop, next])
        store.insert(loop)
      }
      kept = Loop()
      if let kept { store.insert(kept) }
      try store.saveChanges()
    }
    return withExtendedLifetime(kept) { Loop.living.load(ordering: .relaxed) }
  }
}
