import Logging
import StoreEngine

/// An object graph, and the changes to it that are not saved yet.
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
/// A store is for one isolation domain: an actor, the main actor, or a single thread. It is not
/// `Sendable`, and neither are its objects; the compiler refuses to share them. Several stores,
/// each in a domain of its own, may share a backend: see <doc:Concurrency>.
///
/// A save takes all changes or none. One that fails leaves everything as it is, unsaved, so that it
/// can be tried again.
public final class Store {
  /// Where the records are.
  ///
  /// It may be shared with other stores.
  public let backend: any StoreBackend
  /// Hears of inserts, deletes, changes and saves.
  ///
  /// The store does not keep it alive.
  public var delegate: (any StoreDelegate)? {
    get { mayHaveDelegate ? weakDelegate : nil }
    set { (weakDelegate, mayHaveDelegate) = (newValue, newValue != nil) }
  }
  @safe @exclusivity(unchecked)
  private weak var weakDelegate: (any StoreDelegate)?
  /// Whether there was one that nobody has taken away: to find a weak reference empty takes longer
  /// than to look here.
  @safe @exclusivity(unchecked)
  private var mayHaveDelegate = false

  /// Objects that the delegate is being told of.
  var announced: [StoredObject] = []
  /// Whether the delegate has yet to hear that something has changed.
  var hasChangeToTell = false
  /// Objects that are being deleted.
  var deletions = Deletions()

  /// The commit of the last save that wrote anything; nil before the first.
  public internal(set) var lastCommit: Commit?

  let configuration: StoreConfiguration
  var logger: Logger { configuration.logger }

  /// The classes, in order of their class IDs.
  private(set) var classes: [RegisteredClass] = []
  /// The same by their class IDs, with gaps.
  private var classesByID: [RegisteredClass?] = []
  /// The same in order of their types.
  private var classesByType: [RegisteredClass] = []
  /// The class that was looked up last: most objects come in series.
  @safe @exclusivity(unchecked)
  private var lastClass: RegisteredClass?

  /// Named buffers that the next save will write, or remove.
  var pendingNames: [ExactName: [UInt8]?] = [:]

  /// The records that a getter needed and that could not be read.
  ///
  /// As long as there are any, ``saveChanges()`` throws `contentUnavailable`: what the application
  /// has since done may rest on a default that was no data. ``acknowledgeFetchFailures()`` or
  /// ``discardChanges()`` empties the list.
  public internal(set) var fetchFailures: [FetchFailure] = []

  /// What the migrations of the store allow.
  var migrationPhase = MigrationPhase.unknown
  /// Whether a save keeps the records of earlier layouts that it overwrites.
  var keepsEarlierRecords = false

  /// The saves of other stores.
  @safe @exclusivity(unchecked)
  var foreign = ForeignChanges()
  let inbox = ChangeInbox()

  /// Bytes to read records into, kept for their memory.
  ///
  /// While they are in use there are none here, for records that are read inside of another.
  @safe @exclusivity(unchecked)
  private var scratch: [UInt8] = []
  /// What the backend's instrument has yet to hear.
  @safe @exclusivity(unchecked)
  var lookUps = StoreLookUps()
  /// Whether objects are being encoded, when they must not change.
  @safe @exclusivity(unchecked)
  var isEncoding = false
  var changedWhileEncoding = false
  /// Keeps inverses; nil where no class has relationships.
  @safe @exclusivity(unchecked)
  var relationships: RelationshipKeeper?
  /// See ``isObservable``.
  @safe @exclusivity(unchecked)
  var observedObjects: ObservedObjects?
  /// The live results of the store; nil without any.
  @safe @exclusivity(unchecked)
  var liveQueries: LiveQueries?
  /// Whether live results want to know which objects are read.
  var tellsReadsToQueries = false
  /// How many tries to fold the backend's log had failed when that was told last.
  @safe @exclusivity(unchecked)
  var toldFoldFailures = 0
  var listeners: [AsyncStream<StoreChanges>.Continuation] = []
  /// See ``undoManager``.
  @safe @exclusivity(unchecked)
  var history: StoreUndoManager?
  /// What objects with unsaved changes were like before, where saves merge.
  var mergeBases: [ObjectKey: ContentImage] = [:]
  /// The transactions that are under way.
  @safe @exclusivity(unchecked)
  var transactions = OpenTransactions()
  /// Whether a step of the history, or a transaction, is being taken back.
  var isRestoring = false
  /// Stand in for objects without a row, while images are made and applied.
  var strangers: Strangers?
  /// Values outside of records; nil until the store meets one.
  var externals: StoreExternals?
  /// Takes down the references that are read, while a check reads records.
  var referenceRecorder: ReferenceRecorder?

  /// Opens a store on a backend.
  ///
  /// No record is read.
  public init(backend: any StoreBackend, configuration: StoreConfiguration = .init()) {
    self.backend = backend
    self.configuration = configuration
    backend.coordinator.attach(inbox)
  }

  deinit {
    tellLookUps()
    backend.coordinator.detach(inbox)
    for listener in listeners { listener.finish() }
    // All of them first: the end of an object may lead to objects of other classes.
    for entry in classes { entry.leaveStore() }
    for entry in classes { entry.orphan() }
    // These hold objects, too.
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

  /// The entry of a class, or nil.
  func registration(of type: StoredObject.Type) -> RegisteredClass? {
    if let lastClass, lastClass.type == type { return lastClass }
    let index = placeByType(of: type)
    guard index < classesByType.count, classesByType[index].type == type else { return nil }
    lastClass = classesByType[index]
    return lastClass
  }

  /// Where a class is in the order of types, or would be.
  private func placeByType(of type: StoredObject.Type) -> Int {
    var (low, high) = (0, classesByType.count)
    while low < high {
      let middle = (low + high) / 2
      let isBefore = ObjectIdentifier(classesByType[middle].type) < ObjectIdentifier(type)
      if isBefore { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The entry of a class by its class ID, or nil.
  func registration(classID: UInt8) -> RegisteredClass? {
    Int(classID) < classesByID.count ? classesByID[Int(classID)] : nil
  }

  /// The entry of a class, or an error that says what to do.
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
  /// Lends a buffer that is empty and belongs to the store, and keeps its memory for the next
  /// record, unless that has become unusually large.
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
  /// Takes note of ``fetchFailures`` and allows saving again.
  ///
  /// The objects concerned stay faults: their next use tries to read them again, and a change to
  /// one whose record still can't be read is not saved.
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
