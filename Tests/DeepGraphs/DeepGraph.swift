import Foundation
import StoredObjectsCore
import TestFiles

/// A graph so deep that recursion over its objects overflows a stack of 512 KiB, with all
/// operations on it, each performed on such a stack.
public struct DeepGraph<Node: GraphNode>: Sendable {
  /// The default number of objects; each step of a recursion takes at least 100 bytes of stack.
  static var count: Int {
    ProcessInfo.processInfo.environment["STOREDOBJECTS_DEEP_COUNT"].flatMap { Int($0) } ?? 5_000
  }

  let shape: GraphShape
  let count: Int

  private init(_ shape: GraphShape) {
    self.shape = shape
    // A tree ends with a leaf, a chain ends anywhere.
    count = Self.count | 1
  }

  /// An error of an operation.
  struct Failure: Error { let message: String }

  private func expect(_ condition: Bool, _ message: String) throws {
    if !condition { throw Failure(message: "\(shape): \(message)") }
  }

  /// Performs all operations on a graph, and returns the first error.
  public static func run(_ shape: GraphShape) -> Result<Void, any Error> {
    let graph = DeepGraph(shape)
    return onSmallStack { Result { try graph.run() } }
  }

  private func run() throws {
    let disk = MemoryDisk()
    try letGoWithoutStore()
    try discardUnsaved()
    try insert(disk)
    try fetch(disk)
    try edit(disk)
    try delete(disk)
    try dissolve(disk)
    try check(disk)
  }

  private func open(_ disk: MemoryDisk) throws -> (MemoryBackend, Store) {
    let backend = try MemoryBackend(disk: disk)
    let store = Store(backend: backend)
    try store.register(Node.self)
    return (backend, store)
  }

  private func makeNodes() -> [Node] {
    let nodes = (0..<count).map { _ in Node() }
    shape.link(nodes)
    return nodes
  }
}

// MARK: What can be done

extension DeepGraph {
  private func letGoWithoutStore() throws {
    weak var first: Node?
    do {
      let nodes = makeNodes()
      first = nodes[0]
      // A cycle without a store is never detected.
      if shape == .cycle { nodes[0].next = nil }
    }
    try expect(first == nil, "objects in no store are not freed")
  }

  private func discardUnsaved() throws {
    let (backend, store) = try open(MemoryDisk())
    for node in makeNodes() { store.insert(node) }
    store.discardChanges()
    try expect(!store.hasUnsavedChanges, "discarded objects are unsaved")
    backend.close()
  }

  private func insert(_ disk: MemoryDisk) throws {
    weak var first: Node?
    do {
      let (backend, store) = try open(disk)
      let nodes = makeNodes()
      first = nodes[0]
      for node in nodes { store.insert(node) }
      try store.saveChanges()
      try expect(shape.count(from: nodes[0]) == count, "inserted objects are lost")
      backend.close()
    }
    try expect(first == nil, "inserted objects are not freed")
  }

  private func first(in store: Store) throws -> Node {
    guard let node = try store.first(Node.self, where: \.number, is: 0) else {
      throw Failure(message: "\(shape): the first one is not found")
    }
    return node
  }

  private func fetch(_ disk: MemoryDisk) throws {
    weak var first: Node?
    do {
      let (backend, store) = try open(disk)
      let nodes = try store.allObjects(of: Node.self)
      first = nodes[0]
      try expect(nodes.count == count, "not all are fetched")
      backend.close()
    }
    try expect(first == nil, "fetched objects are not freed")
    do {
      let (backend, store) = try open(disk)
      first = try reached(in: store)
      backend.close()
      withExtendedLifetime(store) {}
    }
    try expect(first == nil, "reached objects are not freed")
  }

  /// Visits the graph, and returns its first object, which the store may have released.
  ///
  /// In the caller the optimizer might hold the object longer than the store does, which would keep
  /// the object's cycles alive.
  @inline(never)
  private func reached(in store: Store) throws -> Node? {
    weak var found: Node?
    let root = try self.first(in: store)
    found = root
    // Every fault is filled in turn, and held by the one before.
    try expect(shape.count(from: root) == count, "not all are reached")
    return found
  }

  private func edit(_ disk: MemoryDisk) throws {
    let (backend, store) = try open(disk)
    let nodes = try store.allObjects(of: Node.self)
    for node in nodes { node.number += 1 }
    store.discardChanges()
    try expect(nodes[7].number == 7, "a change is not discarded")
    for node in nodes { store.refresh(node) }
    try expect(nodes[7].number == 7, "a refreshed object is not read")
    for node in nodes { node.number += 0 }
    let other = Store(backend: backend)
    try other.register(Node.self)
    for node in try other.allObjects(of: Node.self) { node.number += 0 }
    try other.saveChanges()
    store.discardChanges()
    store.mergeChanges()
    try expect(shape.count(from: nodes[0]) == count, "merged objects are lost")
    backend.close()
  }

  private func delete(_ disk: MemoryDisk) throws {
    let (backend, store) = try open(disk)
    let history = StoreUndoManager()
    store.undoManager = history
    let root = try first(in: store)
    store.delete(root)
    try history.undo()
    try expect(shape.count(from: root) == count && !root.isDeleted, "a deletion is not taken back")
    try history.redo()
    try store.saveChanges()
    try expect(try store.count(of: Node.self) == 0, "not all are deleted")
    try history.undo()
    try store.saveChanges()
    try expect(try store.count(of: Node.self) == count, "not all come back")
    try expect(shape.count(from: root) == count, "what came back is not linked")
    backend.close()
  }

  private func dissolve(_ disk: MemoryDisk) throws {
    let (backend, store) = try open(disk)
    let root = try first(in: store)
    try expect(shape.count(from: root) == count, "not all are there to be dissolved")
    store.dissolveAllRelationships()
    try expect(shape.count(from: root) == count, "dissolved objects can't be read again")
    backend.close()
  }

  private func check(_ disk: MemoryDisk) throws {
    let (backend, store) = try open(disk)
    let check = try store.check()
    try expect(check.isSound, "\(check.findings.prefix(3))")
    try expect(check.classes.first?.objectCount == count, "not all are checked")
    backend.close()
  }
}
