/// A receiver of the operations of the stores on a backend, with their durations.
///
///     backend.instrument = ServerInstrument()
///
/// The product `StoredObjectsObservability` contains this one, for swift-metrics and
/// swift-distributed-tracing. Implement the protocol for any other tool. Without an instrument
/// nothing is measured.
///
/// Methods are called on the thread that did the work, which waits for them: return quickly, and do
/// not use the store.
public protocol StoreInstrument: Sendable {
  /// Reports an operation that has ended.
  func didEnd(_ operation: StoreOperation)

  /// Reports the number of objects that have been looked up since the last call.
  func didLookUp(_ lookUps: StoreLookUps)
}

/// An operation that is reported to a ``StoreInstrument``.
public struct StoreOperation: Sendable {
  /// The kinds of operations.
  public enum Kind: String, Sendable, CaseIterable {
    /// A store saves its changes: from the call to its return.
    case save
    /// The backend writes one change set, including the wait for the disk or the server. It is a
    /// part of a save.
    case commit
    /// The backend folds saves from the log into the class files, often on a separate thread.
    case fold
  }

  /// The kind of the operation.
  public let kind: Kind
  /// The directory or the server, as the backend names it.
  public let location: String
  /// The time the operation began.
  public let start: ContinuousClock.Instant
  /// The duration of the operation.
  public let duration: Duration
  /// The size of the change set of a commit, or of all that are folded; 0 for a save.
  public let byteCount: Int
  /// The error of a failed operation; nil for success.
  public let error: StoreError?
}

/// The numbers of objects that were looked up by their IDs or through references.
public struct StoreLookUps: Sendable, Equatable {
  /// The number of objects that were in memory.
  public package(set) var hits = 0
  /// The number of objects whose record was read.
  public package(set) var misses = 0

  /// Creates an empty count.
  package init() {}
}

extension StoreBackend {
  /// The instrument that receives the operations of the stores on this backend; nil by default.
  ///
  /// Thread safety: may be read and set on any thread.
  public var instrument: (any StoreInstrument)? {
    get { coordinator.instruments.current }
    set { coordinator.instruments.current = newValue }
  }

  /// Runs a closure that performs an operation, and reports its duration to the instrument.
  ///
  /// Without an instrument, the compiler inlines the closure in place of the call.
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

/// An operation that has begun, and that an instrument will receive.
package struct BegunOperation: Sendable {
  private let instrument: any StoreInstrument
  private let kind: StoreOperation.Kind
  private let location: String
  private let byteCount: Int
  private let start = ContinuousClock.now

  fileprivate init(
    _ instrument: any StoreInstrument, _ kind: StoreOperation.Kind, _ location: String,
    _ byteCount: Int
  ) {
    (self.instrument, self.kind) = (instrument, kind)
    (self.location, self.byteCount) = (location, byteCount)
  }

  /// Reports the operation.
  package func end(_ error: StoreError? = nil) {
    instrument.didEnd(
      StoreOperation(
        kind: kind, location: location, start: start, duration: ContinuousClock.now - start,
        byteCount: byteCount, error: error))
  }
}

extension StoreBackend {
  /// Begins an operation that doesn't end where it begins; nil without an instrument.
  package func begin(_ kind: StoreOperation.Kind, byteCount: Int = 0) -> BegunOperation? {
    coordinator.begin(kind, at: location, byteCount: byteCount)
  }
}

extension StoreCoordinator {
  /// Whether an instrument receives durations.
  @usableFromInline package var isMeasured: Bool { instruments.isSet }

  /// Reports look-ups to the instrument, and counts them for other processes.
  package func didLookUp(_ lookUps: StoreLookUps) {
    instruments.counter?.count(lookUps)
    // Without the check, the runtime would build the type of a missing instrument.
    if instruments.isSet { instruments.current?.didLookUp(lookUps) }
  }

  fileprivate func begin(
    _ kind: StoreOperation.Kind, at location: String, byteCount: Int
  ) -> BegunOperation? {
    guard isMeasured else { return nil }
    return instruments.current.map { BegunOperation($0, kind, location, byteCount) }
  }

  /// Runs a closure that performs an operation, and reports its duration to the instrument.
  @usableFromInline
  package func measure<Result>(
    _ kind: StoreOperation.Kind, at location: String, byteCount: Int,
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard let operation = begin(kind, at: location, byteCount: byteCount) else { return try body() }
    do throws(StoreError) {
      let result = try body()
      operation.end()
      return result
    } catch {
      operation.end(error)
      throw error
    }
  }
}
