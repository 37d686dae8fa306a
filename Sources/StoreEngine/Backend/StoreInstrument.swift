/// Hears what the stores on a backend do, and how long it takes.
///
///     backend.instrument = ServerInstrument()
///
/// The product `StoredObjectsObservability` has this one, for swift-metrics and
/// swift-distributed-tracing. Implement the protocol for any other tool. Without an instrument
/// nothing is measured.
///
/// Calls come on the thread that did the work, which waits for them: return quickly, and do not use
/// the store.
public protocol StoreInstrument: Sendable {
  /// An operation has ended.
  func didEnd(_ operation: StoreOperation)

  /// Objects have been looked up since the last call.
  func didLookUp(_ lookUps: StoreLookUps)
}

/// Work that a ``StoreInstrument`` hears of.
public struct StoreOperation: Sendable {
  /// The kinds of work.
  public enum Kind: String, Sendable, CaseIterable {
    /// A store saves its changes: from the call to its return.
    case save
    /// The backend writes one change set, the wait for the disk or the server included. It is a part
    /// of a save.
    case commit
    /// Saves that are in the log are brought to the class files, often on a thread of its own.
    case fold
  }

  /// The kind of work.
  public let kind: Kind
  /// The directory or the server, as the backend names it.
  public let location: String
  /// How long it took.
  public let duration: Duration
  /// The size of the change set of a commit, or of all that are folded; 0 for a save.
  public let byteCount: Int
  /// Why it failed; nil if it did not.
  public let error: StoreError?
}

/// How many objects were looked up by their IDs or through references.
public struct StoreLookUps: Sendable, Equatable {
  /// Objects that were in memory.
  public package(set) var hits = 0
  /// Objects whose record was read.
  public package(set) var misses = 0

  /// Describes no look-ups.
  package init() {}
}

extension StoreBackend {
  /// Hears what the stores on this backend do; nil, the default, for nobody.
  ///
  /// Thread safety: may be read and set on any thread.
  public var instrument: (any StoreInstrument)? {
    get { coordinator.instruments.current }
    set { coordinator.instruments.current = newValue }
  }

  /// Runs a closure that does an operation, and tells the instrument how long it took.
  ///
  /// Where nobody listens, the compiler puts the closure in place of the call.
  @inlinable
  @inline(__always)
  package func measure<Result>(
    _ kind: StoreOperation.Kind, byteCount: Int = 0, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let coordinator = coordinator
    guard coordinator.isMeasured else { return try body() }
    return try coordinator.measure(kind, at: location, byteCount: byteCount, body)
  }
}

extension StoreCoordinator {
  /// Whether anyone wants to hear how long things take.
  @usableFromInline package var isMeasured: Bool { instruments.isSet }

  /// Runs a closure that does an operation, and tells the instrument how long it took.
  @usableFromInline
  package func measure<Result>(
    _ kind: StoreOperation.Kind, at location: String, byteCount: Int,
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard let instrument = instruments.current else { return try body() }
    let start = ContinuousClock.now
    let result = Swift.Result { () throws(StoreError) in try body() }
    var failure: StoreError?
    if case .failure(let error) = result { failure = error }
    instrument.didEnd(
      StoreOperation(
        kind: kind, location: location, duration: ContinuousClock.now - start,
        byteCount: byteCount, error: failure))
    return try result.get()
  }
}
