import Testing

/// A program that must not compile, and part of what the compiler has to say about it.
struct Refusal: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let program: String
  let diagnostic: String

  init(_ name: String, _ diagnostic: String, _ program: String) {
    testDescription = name
    self.program = program
    self.diagnostic = diagnostic
  }
}

/// The beginning of each program.
private let prelude = """
  import StoredObjectsCore
  final class Song: StoredObject { @Content var title = "" }

  """

private let dataRaces: [Refusal] = [
  Refusal(
    "using a store in a detached task and beside it", "risks causing data races",
    """
    func run(store: sending Store) {
      Task.detached { try store.saveChanges() }
      _ = store.hasUnsavedChanges
    }
    """),
  Refusal(
    "returning an object from the actor that holds its store",
    "non-Sendable 'Song?'-typed result can not be returned from actor-isolated",
    """
    actor Library {
      let store: Store
      init(_ backend: MemoryBackend) { store = Store(backend: backend) }
      func song() throws -> Song? { try store.object(Song.self, rowID: 2) }
    }
    func run(library: Library) async throws { _ = try await library.song() }
    """),
  Refusal(
    "taking a store for Sendable", "conformance of 'Store' to 'Sendable' is unavailable",
    "func run(store: Store) { let value: any Sendable = store; _ = value }"),
  Refusal(
    "taking an object for Sendable",
    "conformance of 'StoredObject' to 'Sendable' is unavailable",
    "func run(song: Song) { let value: any Sendable = song; _ = value }"),
]

private let ids: [Refusal] = [
  Refusal(
    "fetching a song by the ID of a playlist",
    "cannot convert return expression of type 'Playlist?' to return type 'Song?'",
    """
    final class Playlist: StoredObject {}
    func run(store: Store, id: ObjectID<Playlist>) throws -> Song? {
      try store.object(id)
    }
    """)
]

private let content: [Refusal] = [
  Refusal(
    "@Content in a structure", "@Content is for properties of StoredObject subclasses",
    "struct Plain { @Content var title = \"\" }"),
  Refusal(
    "@Content in a class of another kind", "requires that 'Plain' inherit from 'StoredObject'",
    "final class Plain { @Content var title = \"\" }"),
]

private let values: [Refusal] = [
  Refusal(
    "storing what has no form on disk", "a stored value is DataBufferValue, Codable, or",
    "func run(b: inout DataBuffer) { b.writeValue({}, as: (() -> Void).self) }"),
  Refusal(
    "reading a list of optional references", "a stored value is DataBufferValue, Codable, or",
    "func run(b: inout DataBuffer) throws { _ = try b.readValue(of: [Song?].self) }"),
  Refusal(
    "reading a reference that can't be nil", "a stored reference is optional: Song?",
    "func run(b: inout DataBuffer) throws { _ = try b.readValue(of: Song.self) }"),
]

@Suite("Errors of the compiler")
struct CompilerRefusalTests {
  @Test("The compiler accepts valid code")
  func control() throws {
    let outcome = try Compiler.compile(
      prelude + """
        actor Library {
          let store: Store
          init(_ backend: MemoryBackend) { store = Store(backend: backend) }
          func title() throws -> String? { try store.object(Song.self, rowID: 2)?.title }
        }
        func run(backend: MemoryBackend) async throws {
          let store = Store(backend: backend)
          Task.detached { try Store(backend: backend).saveChanges() }
          store.insert(Song())
          _ = try await Library(backend).title()
          var buffer = DataBuffer()
          buffer.write(5 as UInt8)
          buffer.write(Int64(5), order: .bigEndian)
          buffer.write(5.0)
          buffer.write(5)
          let number: Int = try buffer.read()
          _ = Task.detached { [id = ObjectID<Song>(rowID: 2)] in print(id, number) }
        }
        """)
    #expect(outcome.succeeded, "\(outcome.diagnostics)")
  }

  @Test(
    "The compiler refuses invalid code, and explains why",
    arguments: dataRaces + ids + content + values)
  func refusals(refusal: Refusal) throws {
    let outcome = try Compiler.compile(prelude + refusal.program)
    #expect(!outcome.succeeded)
    #expect(outcome.diagnostics.contains(refusal.diagnostic), "\(outcome.diagnostics)")
  }
}
