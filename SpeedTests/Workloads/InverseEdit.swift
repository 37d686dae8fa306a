import StoredObjectsCore

/// An author, whose comments refer to it.
private final class Author: StoredObject {
  @Content var comments: ObjectList<Comment> = []

  override class var relationships: [Relationship] {
    [Relationship(\Author.comments, inverse: \Comment.author)]
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    comments = try buffer.readList(of: Comment.self)
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(comments) }
}

private final class Comment: StoredObject {
  @Content var author: Author?

  override func readContent(from buffer: inout DataBuffer) throws {
    author = try buffer.readObject(of: Author.self)
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(author) }
}

/// Sets the to-one side of a relationship, which maintains a long list on the other side.
///
/// The time must grow linearly with the number of objects, not quadratically. Only StoredObjects is
/// measured.
struct InverseEdit: Workload {
  let name = "InverseEdit"
  let summary = "insert comments, set the author of each, take it from every other one; no save"
  let defaultCounts = [100_000, 1_000_000]
  let timing = Timing.inside
  let rivals: Set<String>? = []

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withStore(of: [Author.self, Comment.self]) { store in
      let author = Author()
      store.insert(author)
      let comments = (0..<count).map { _ in Comment() }
      for comment in comments { store.insert(comment) }
      for comment in comments { comment.author = author }
      try expect(author.comments.count == count, "the author has \(author.comments.count)")
      for index in stride(from: 0, to: count, by: 2) { comments[index].author = nil }
      try expect(author.comments.count == count / 2, "the author has \(author.comments.count)")
      store.discardChanges()
    }
  }
}
