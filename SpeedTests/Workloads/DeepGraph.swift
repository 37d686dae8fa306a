import StoredObjectsCore

/// An object that refers to the next one and deletes it when it is deleted.
private final class Link: StoredObject {
  @Content var next: Link?

  override class var relationships: [Relationship] {
    [Relationship(\Link.next, deleteRule: .cascade)]
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    next = try buffer.readObject(of: Link.self)
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(next) }
}

/// Saves, visits and deletes a chain of objects, each of which refers to the next one.
///
/// The time must be linear in the number of objects, and the stack must not grow with it. Only
/// StoredObjects is measured.
struct DeepGraph: Workload {
  let name = "DeepGraph"
  let summary = "save a chain of objects; reopen, walk it, delete it by cascade, save"
  let defaultCounts = [100_000]
  let timing = Timing.inside
  let rivals: Set<String>? = []

  func run(_ workspace: Workspace, _ count: Int) throws {
    var rowID: UInt32 = 0
    try workspace.withStore(of: [Link.self]) { store in rowID = try insert(store, count) }
    try workspace.withStore(of: [Link.self]) { store in try delete(store, rowID, count) }
  }

  /// Saves a chain.
  private func insert(_ store: Store, _ count: Int) throws -> UInt32 {
    var first: Link?
    for _ in 0..<count {
      let link = Link()
      link.next = first
      store.insert(link)
      first = link
    }
    try store.saveChanges()
    return first?.rowID ?? 0
  }

  private func delete(_ store: Store, _ rowID: UInt32, _ count: Int) throws {
    let first = try store.object(Link.self, rowID: rowID)
    var (found, length) = (first, 0)
    while let link = found {
      length += 1
      found = link.next
    }
    try expect(length == count, "the chain has \(length) objects")
    if let first { store.delete(first) }
    try store.saveChanges()
    let left = try store.count(of: Link.self)
    try expect(left == 0, "\(left) objects are left")
  }
}
