public import StoredObjectsCore

/// Somewhere a backend can be opened, closed, and opened again: a directory, a server, memory.
///
/// A place begins empty. What was committed to one backend is there for the next one.
public protocol BackendLocation {
  /// Opens a backend on the place.
  ///
  /// - Throws: `StoreError`, with `inUse` when the place is open already.
  func open(readOnly: Bool) throws -> any StoreBackend
}

extension BackendLocation {
  /// Opens a backend for reading and writing.
  ///
  /// - Throws: `StoreError`, with `inUse` when the place is open already.
  public func open() throws -> any StoreBackend { try open(readOnly: false) }
}

/// What `StoreBackend` promises, as checks that run on any backend and in any test framework.
///
/// Whoever writes a backend says where it can be opened, and runs every check on a place of its
/// own:
///
///     struct ScratchDirectory: BackendLocation {
///       let path: String
///       func open(readOnly: Bool) throws -> any StoreBackend {
///         try MyBackend(directory: path, isReadOnly: readOnly)
///       }
///     }
///
///     @Test("The backend keeps its promises", arguments: BackendConformance.checks)
///     func conformance(_ check: BackendConformance.Check) throws {
///       try withTemporaryDirectory { try check.run(ScratchDirectory(path: $0)) }
///     }
///
/// A promise that is not kept ends in a ``ConformanceFailure``, which names the line of the check.
/// `MemoryBackend` is the simplest backend that passes.
public struct BackendConformance {
  /// One promise.
  public struct Check: Sendable, CustomStringConvertible {
    /// The promise, as a sentence.
    public let name: String
    private let body: @Sendable (any BackendLocation) throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (any BackendLocation) throws -> Void) {
      self.name = name
      self.body = body
    }

    /// The name, by which a test framework lists the check.
    public var description: String { name }

    /// Tries the backend of a place that nothing has been written to yet.
    ///
    /// - Throws: ``ConformanceFailure`` when the promise is not kept, and what the backend throws
    ///   where it should not have.
    public func run(_ location: some BackendLocation) throws { try body(location) }
  }

  /// All checks, in no order; each needs a place of its own.
  public static let checks: [Check] =
    commits + numbers + history + contents + names + scans + copying + lending + opening
    + concurrency + ordered + external + snapshots

  /// Opens a place, lets a check use the backend, and closes it whatever happens.
  static func withBackend(
    _ location: any BackendLocation, readOnly: Bool = false,
    _ body: (any StoreBackend) throws -> Void
  ) throws {
    let backend = try location.open(readOnly: readOnly)
    do {
      try body(backend)
    } catch {
      try? backend.close()
      throw error
    }
    try backend.close()
  }
}

extension BackendConformance.Check {
  /// A check that opens its place once.
  static func opened(
    _ name: String, _ body: @escaping @Sendable (any StoreBackend) throws -> Void
  ) -> Self {
    Self(name) { try BackendConformance.withBackend($0, body) }
  }
}
