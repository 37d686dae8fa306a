import Logging
import StoreEngine

/// An object graph with its unsaved changes.
///
///     let store = try Store(backend: TokyoCabinetBackend(directory: "Music"))
///     try store.register(Song.self, Playlist.self)
///
///     let song = Song()
///     song.title = "Walking on Sunshine"
///     store.insert(song)
///     try store.saveChanges()
///
///     for song in try store.allObjects(of: Song.self) { print(song.title) }
///
/// A store belongs to one isolation domain: an actor, the main actor, or a single thread. It is not
/// `Sendable`, and neither are its objects; the compiler refuses to share them. Several stores,
/// each in its own domain, can share a backend: see <doc:Concurrency>.
///
/// A save writes all changes or none. If it fails, the changes stay unsaved, and you can try again.
public final class Store {
  /// The backend that holds the records.
  ///
  /// Other stores may share it.
  public let backend: any StoreBackend
  /// The delegate, which is notified of inserts, deletes, changes and saves.
  ///
  /// The store does not retain it.
  public var delegate: (any StoreDelegate)? {
    get { mayHaveDelegate ? weakDelegate : nil }
    set { (weakDelegate, mayHaveDelegate) = (newValue, newValue != nil) }
  }
  @safe @exclusivity(unchecked)
  private weak var weakDelegate: (any StoreDelegate)?
  /// Whether a delegate was set and not removed.
  ///
  /// Checking this is faster than finding the weak reference empty.
  @safe @exclusivity(unchecked)
  private var mayHaveDelegate = false

  /// Whether there is a delegate; testing it first makes no closure in vain.
  var hasDelegate: Bool { mayHaveDelegate && weakDelegate != nil }

  /// Objects that a delegate call is under way for.
  var announced: [StoredObject] = []
  /// Whether `storeDidChange(_:)` has been postponed.
  @safe @exclusivity(unchecked)
  var hasChangeToTell = false
  /// Objects that are being deleted.
  @safe @exclusivity(unchecked)
  var deletions = Deletions()

  /// The commit of the last save that wrote anything; nil before the first.
  public internal(set) var lastCommit: Commit?

  let configuration: StoreConfiguration
  var logger: Logger { configuration.logger }

  /// The registered classes, in order of their class IDs.
  @safe @exclusivity(unchecked)
  private(set) var classes: [RegisteredClass] = []
  /// The registered classes, indexed by class ID, with gaps.
  private var classesByID: [RegisteredClass?] = []
  /// The registered classes, sorted by type.
  private var classesByType: [RegisteredClass] = []
  /// The class that was looked up last: objects tend to come in runs of one class.
  @safe @exclusivity(unchecked)
  private var lastClass: RegisteredClass?

  /// Named buffers that the next save writes, or removes if nil.
  var pendingNames = PendingNames()

  /// The records that a getter needed and that could not be read.
  ///
  /// While the list is not empty, ``saveChanges()`` throws `contentUnavailable`: your changes may
  /// be based on default values instead of data. ``acknowledgeFetchFailures()`` or
  /// ``discardChanges()`` empties the list.
  public internal(set) var fetchFailures: [FetchFailure] = []

  /// The operations that the state of the store's migrations allows.
  var migrationPhase = MigrationPhase.unknown
  /// Whether a save keeps copies of the records of earlier layouts that it overwrites.
  var keepsEarlierRecords = false

  /// The changes that other stores have saved.
  @safe @exclusivity(unchecked)
  var foreign = ForeignChanges()
  let inbox = ChangeInbox()
  /// Merges the changes that other stores have saved; nil unless ``mergeAutomatically(isolation:)``
  /// was called.
  var automaticMerging: AutomaticMerging?

  /// A buffer for reading records, kept to reuse its memory.
  ///
  /// It is empty while in use, so that a record can be read while another one is being read.
  @safe @exclusivity(unchecked)
  private var scratch: [UInt8] = []
  /// Look-ups not yet reported to the backend's instrument.
  @safe @exclusivity(unchecked)
  var lookUps = StoreLookUps()
  /// Whether objects are being encoded; they must not change meanwhile.
  @safe @exclusivity(unchecked)
  var isEncoding = false
  var changedWhileEncoding = false
  /// Maintains inverse relationships; nil if no class has any.
  @safe @exclusivity(unchecked)
  var relationships: RelationshipKeeper?
  /// See ``isObservable``.
  @safe @exclusivity(unchecked)
  var observedObjects: ObservedObjects?
  /// The live results of the store; nil if there are none.
  @safe @exclusivity(unchecked)
  var liveQueries: LiveQueries?
  /// Whether live results need to know which objects are read.
  var tellsReadsToQueries = false
  /// The number of failed checkpoints when that was last reported.
  @safe @exclusivity(unchecked)
  var toldFoldFailures = 0
  var listeners: [AsyncStream<StoreChanges>.Continuation] = []
  /// See ``undoManager``.
  @safe @exclusivity(unchecked)
  var history: StoreUndoManager?
  /// The content of objects before their unsaved changes, kept if saves merge conflicts.
  var mergeBases: [ObjectKey: ContentImage] = [:]
  /// The open transactions.
  @safe @exclusivity(unchecked)
  var transactions = OpenTransactions()
  /// Whether an undo step or a transaction is being reverted.
  var isRestoring = false
  /// Placeholders for objects without a row, while images are made and applied.
  var strangers: Strangers?
  /// Values stored outside of records; nil until the store meets one.
  var externals: StoreExternals?
  /// How a sync treats values outside of records; nil for all other stores.
  package var valueTransfer: ValueTransfer?
  /// Changes the next commit; nil except during a save that adds something.
  var commitHook: CommitHook?
  /// Decides what both sides have changed; nil makes it a conflict.
  package var mergeDecider: MergeDecider?
  /// Records the references that are read while a check reads records.
  var referenceRecorder: ReferenceRecorder?

  /// Opens a store on a backend.
  ///
  /// Reads no record.
  ///
  /// Complexity: O(1); classes are opened when they are registered.
  public init(backend: any StoreBackend, configuration: StoreConfiguration = .init()) {
    self.backend = backend
    self.configuration = configuration
    backend.coordinator.attach(inbox)
  }

  deinit {
    tellLookUps()
    backend.coordinator.detach(inbox)
    for listener in listeners { listener.finish() }
    // All classes leave the store first: releasing an object may reach objects of other classes.
    for entry in classes { entry.leaveStore() }
    for entry in classes { entry.orphan() }
    // These retain objects, too.
    (history, relationships, observedObjects, strangers) = (nil, nil, nil, nil)
    (announced, deletions) = ([], Deletions())
    CycleCollector.run(classes)
    collectExternals()
  }

  func enroll(_ entry: RegisteredClass) {
    classes.insert(
      entry, at: classes.firstIndex { $0.classID > entry.classID } ?? classes.count)
    let gap = Int(entry.classID) + 1 - classesByID.count
    if gap > 0 { classesByID += Array(repeating: nil, count: gap) }
    classesByID[Int(entry.classID)] = entry
    classesByType.insert(entry, at: placeByType(of: entry.type))
    entry.setObserved(isObservable || tellsReadsToQueries)
    liveQueries?.didRegister(entry)
    if liveQueries != nil { followLiveQueries() }
  }

  /// Returns the registration of a class, or nil.
  func registration(of type: StoredObject.Type) -> RegisteredClass? {
    if let lastClass, lastClass.type == type { return lastClass }
    let index = placeByType(of: type)
    guard index < classesByType.count, classesByType[index].type == type else { return nil }
    lastClass = classesByType[index]
    return lastClass
  }

  /// Returns the index of a class in the order of types, or the index at which to insert it.
  private func placeByType(of type: StoredObject.Type) -> Int {
    var (low, high) = (0, classesByType.count)
    while low < high {
      let middle = (low + high) / 2
      let isBefore = ObjectIdentifier(classesByType[middle].type) < ObjectIdentifier(type)
      if isBefore { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the registration of the class with a class ID, or nil.
  func registration(classID: UInt8) -> RegisteredClass? {
    Int(classID) < classesByID.count ? classesByID[Int(classID)] : nil
  }

  /// Returns the registration of a class, or throws `notRegistered`.
  func requireRegistration(of type: StoredObject.Type) throws(StoreError) -> RegisteredClass {
    if let entry = registration(of: type) { return entry }
    throw StoreError(
      .notRegistered, "Register \(type) with the store before using it.",
      at: .init(className: type.storedName))
  }
}

@available(*, unavailable) extension Store: Sendable {}

// MARK: - A buffer for one record

extension Store {
  /// Calls a closure with an empty buffer of the store.
  ///
  /// Keeps the buffer's memory for the next record unless it has grown to 1 MiB or more.
  @inline(__always)
  func withScratchBuffer<Result>(
    _ body: (inout DataBuffer) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var buffer = DataBuffer([], store: self)
    buffer.swapBytes(&scratch)
    defer { if buffer.byteCount < 1 << 20 { buffer.swapBytes(&scratch) } }
    return try body(&buffer)
  }
}

// MARK: - Content that could not be read

extension Store {
  /// Clears ``fetchFailures`` and allows saving again.
  ///
  /// The affected objects stay faults: their next use tries to read them again. A change to an
  /// object whose record still can't be read is not saved.
  public func acknowledgeFetchFailures() { fetchFailures = [] }

  func note(_ failure: FetchFailure) {
    if liveQueries?.takes(failure) == true { return }
    let isKnown = fetchFailures.contains {
      $0.rowID == failure.rowID && $0.className == failure.className
    }
    if isKnown { return }
    fetchFailures.append(failure)
    logger.error("Content could not be read: \(failure.error)")
    tell { $0.store(self, didFailToFetch: failure) }
  }
}
