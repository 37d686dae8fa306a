public import StoredObjectsCore

/// A location where a backend can be opened repeatedly: a directory, a server, memory.
///
/// A location is empty at first. Data that one backend has committed is there for the next one.
public protocol BackendLocation {
  /// Opens a backend at the location.
  ///
  /// Complexity: that of opening the backend.
  ///
  /// - Throws: `StoreError`, with `inUse` if the location is open already.
  func open(readOnly: Bool) throws -> any StoreBackend
}

extension BackendLocation {
  /// Opens a backend for reading and writing.
  ///
  /// Complexity: that of opening the backend.
  ///
  /// - Throws: `StoreError`, with `inUse` if the location is open already.
  public func open() throws -> any StoreBackend { try open(readOnly: false) }
}

/// The promises of `StoreBackend`, as checks that run on any backend and in any test framework.
///
/// To test a backend, provide its location, and run each check on a new one:
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
/// A broken promise throws a ``ConformanceFailure`` with the line of the check. `MemoryBackend` is
/// the simplest backend that passes.
public struct BackendConformance {
  /// A check of one promise.
  public struct Check: Sendable, CustomStringConvertible {
    /// The promise, as a sentence.
    public let name: String
    private let body: @Sendable (any BackendLocation) throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (any BackendLocation) throws -> Void) {
      self.name = name
      self.body = body
    }

    /// The name, which a test framework shows for the check.
    public var description: String { name }

    /// Checks the backend at a location that nothing has been written to.
    ///
    /// Complexity: that of the check, which writes, reads and reopens the backend.
    ///
    /// - Throws: ``ConformanceFailure`` if the promise is broken, and unexpected errors of the
    ///   backend.
    public func run(_ location: some BackendLocation) throws { try body(location) }
  }

  /// All checks, in no particular order; each needs a new location.
  public static let checks: [Check] =
    commits + numbers + history + contents + names + scans + copying + lending + opening
    + concurrency + ordered + external + snapshots

  /// Opens a location, calls a closure with the backend, and closes the backend in any case.
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
  /// Creates a check that opens its location once.
  static func opened(
    _ name: String, _ body: @escaping @Sendable (any StoreBackend) throws -> Void
  ) -> Self {
    Self(name) { try BackendConformance.withBackend($0, body) }
  }
}
