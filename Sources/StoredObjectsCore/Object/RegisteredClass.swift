import Logging
import StoreEngine

/// A class in a store: its class ID, its objects in memory, and its pending changes.
///
/// Properties that are used for each object are not checked for exclusivity: they belong to one
/// isolation domain, and no foreign code runs during an access.
@usableFromInline final class RegisteredClass {
  let type: StoredObject.Type
  /// The number of the class in the store.
  let classID: UInt8
  /// The name on disk.
  let name: String
  /// The layouts in which its records are written and read.
  var layouts: ClassLayouts { didSet { needsLayoutsSaved = layouts.needsSaving } }
  /// Whether the store lacks layouts of the class; checked by each save.
  @safe @exclusivity(unchecked)
  private(set) var needsLayoutsSaved: Bool
  /// The first byte of the records that are written: the number of the current layout.
  let version: UInt8
  /// The version that the class declares.
  let classVersion: UInt8
  let table: TableID
  /// The state of the class that all stores on the backend share.
  let shared: SharedTable
  private let logger: Logger
  /// The store; nil after ``leaveStore()``, because objects may outlive their store.
  ///
  /// Not weak: a weak reference permanently slows down every other reference to the store.
  @safe @exclusivity(unchecked)
  private(set) unowned var store: Store?

  /// Returns the next row ID, each only once; nil if none is left.
  ///
  /// Not inlined: the caller would retain the shared state.
  @inline(never) func nextRowID() -> UInt32? { shared.nextRowID() }

  /// Whether the class has relationships that the store maintains.
  var isAttentive: Bool { specialState.contains(.attentive) }
  /// Whether one of these relationships leads to the class itself.
  var refersToItself = false
  /// The states that the objects of the class have in addition, for their accessors.
  @safe @exclusivity(unchecked)
  var specialState: ObjectState = []

  /// The live results to notify of changes to the class; nil if there are none.
  @safe @exclusivity(unchecked)
  var liveQueries: LiveQueries?

  /// The indexes that the class declares.
  let indexes: [RegisteredIndex]
  /// Whether another store has saved layouts of the class since these were read.
  var mayBeOutdated = false
  /// Indexes of the class that only another program declares; nil until they are looked for.
  var strangeIndexes: (tables: [OrderedTableID], asOf: UInt64)?

  /// The rows of the class on disk, if the backend is read-only; nil until they are needed.
  var unchangingRows: RowSet?

  /// Records of faults that have been read ahead; nil if a read is not a round trip.
  let faultsAhead: FaultsAhead?

  /// The full-text index that the class declares.
  var fullText: RegisteredText?

  /// The properties through which objects of the class hold others; nil if they hold none.
  ///
  /// Determined on first use: it takes as long as opening a file.
  var references: ReferenceLayout? {
    if let knownReferences { return knownReferences }
    let references = ReferenceLayout.of(type)
    knownReferences = .some(references)
    hasNoReferences = references == nil
    return references
  }
  /// Whether ``references`` is known to be nil, which takes no copy to find out.
  @safe @exclusivity(unchecked)
  private(set) var hasNoReferences = false
  @safe @exclusivity(unchecked)
  private var knownReferences: ReferenceLayout??

  /// Whether records of the class may refer to values stored outside of them.
  let hasExternals: Bool

  /// Converts content to values; nil for a class that does not declare its properties.
  private(set) lazy var coding: RecordCoding? = (try? DeclaredLayout.of(type))?.layout.map {
    RecordCoding($0.properties(at: classVersion))
  }

  /// The format of the class's records.
  let format: ClassMetadata.Flags

  private let objects = UniquingTable()
  /// Objects that the next save may have to handle, in the order in which they were added.
  ///
  /// Each occurs once and is retained; its state says what the save does.
  @safe @exclusivity(unchecked)
  private(set) var pending: [StoredObject] = []
  @safe @exclusivity(unchecked)
  private(set) var changeCounts = ChangeCounts()

  /// The numbers of rows that the next save inserts, updates and deletes.
  struct ChangeCounts {
    var inserts = 0
    var updates = 0
    var deletes = 0
    var isEmpty: Bool { inserts == 0 && updates == 0 && deletes == 0 }
  }

  init(
    _ type: StoredObject.Type, classID: UInt8, table: TableID, shared: SharedTable, store: Store,
    layouts: ClassLayouts,
    indexes: [RegisteredIndex] = [], fullText: RegisteredText? = nil
  ) {
    (self.indexes, self.fullText) = (indexes, fullText)
    self.type = type
    self.classID = classID
    self.name = type.storedName
    self.layouts = layouts
    needsLayoutsSaved = layouts.needsSaving
    hasExternals = layouts.all.contains { $0.form.hasExternals }
    (version, classVersion) = (layouts.number, layouts.classVersion)
    faultsAhead = store.backend.coordinator.isOnServer ? FaultsAhead() : nil
    self.table = table
    self.shared = shared
    self.store = store
    self.logger = store.logger
    self.format = store.recordFormat(shared)
  }

  /// Whether each record begins with its class version.
  var versionsRecords: Bool { !format.contains(.unversionedRecords) }
  /// Whether each record ends with a checksum.
  var checksumsRecords: Bool { format.contains(.checksums) }

  /// Returns the location for an error about the class or a row.
  func location(_ rowID: UInt32? = nil, offset: Int? = nil) -> StoreError.Location {
    .init(path: store?.backend.location, className: name, rowID: rowID, offset: offset)
  }
}

// MARK: - Objects in memory

extension RegisteredClass {
  /// Whether a row ID has ever been assigned.
  func mayHave(_ rowID: UInt32) -> Bool { rowID > 1 && rowID <= shared.lastRowID }

  /// All objects of the class in memory.
  var livingObjects: [StoredObject] { objects.allObjects() }

  /// Returns the object of a row if it is in memory.
  func living(_ rowID: UInt32) -> StoredObject? { objects.object(rowID) }

  /// Returns the object of a row, or a new fault if it is not in memory.
  func object(_ rowID: UInt32) -> StoredObject { objects.object(rowID) ?? makeFault(rowID) }

  /// Returns the object of a row if it is in memory, or else one made for the row, or a new fault.
  @inline(__always)
  func object(_ rowID: UInt32, orMade made: StoredObject?) -> StoredObject {
    guard let made else { return object(rowID) }
    if let living = objects.object(rowID) { return living }
    adopt(made, rowID)
    return made
  }

  /// The number of objects in memory.
  var livingCount: Int { objects.count }

  /// Creates a fault for a row that has no object in memory.
  func makeFault(_ rowID: UInt32) -> StoredObject {
    let object = type.init()
    object.state = []
    adopt(object, rowID)
    faultsAhead?.note(rowID)
    return object
  }

  /// Registers an object as the one of a row.
  func adopt(_ object: StoredObject, _ rowID: UInt32) {
    object.rowID = rowID
    object.registration = self
    object.state.subtract([.detached, .departed])
    object.state.formUnion(specialState)
    objects.enter(object, rowID)
  }

  /// Removes an object from the store.
  func release(_ object: StoredObject) {
    objects.remove(object.rowID)
    object.registration = nil
    object.rowID = 0
    object.state.insert(.detached)
    if object.state.contains(.observed) { store?.observedObjects?.forget(object) }
    object.state.subtract(.special)
  }

  /// Removes the entry of an object that is being freed.
  func forget(_ rowID: UInt32) { objects.remove(rowID) }
}

// MARK: - Pending changes

extension RegisteredClass {
  /// Changes the state of an object and counts it; the only way to change what a save does with it.
  func mark(_ object: StoredObject, _ change: (inout ObjectState) -> Void) {
    var state = object.state
    count(state.change, -1)
    change(&state)
    count(state.change, 1)
    if state.change != nil, !state.contains(.pending) {
      state.insert(.pending)
      pending.append(object)
    }
    object.state = state
    liveQueries?.note(object)
  }

  private func count(_ change: ChangeSet.Kind?, _ number: Int) {
    switch change {
    case .insert: changeCounts.inserts += number
    case .update: changeCounts.updates += number
    case .delete: changeCounts.deletes += number
    case nil: break
    }
  }

  /// The pending objects that the next save writes: inserted and updated ones, not deleted ones.
  var written: some Sequence<StoredObject> {
    pending.lazy.filter { $0.state.change == .insert || $0.state.change == .update }
  }

  /// The pending objects that the next save handles, including deleted ones.
  var changed: some Sequence<StoredObject> { pending.lazy.filter { $0.state.change != nil } }

  /// Releases pending objects that are no longer marked as pending.
  func removeSettledFromPending() { pending.removeAll { !$0.state.contains(.pending) } }

  /// Removes and returns the pending objects.
  func takePending() -> [StoredObject] {
    defer {
      pending = []
      changeCounts = ChangeCounts()
    }
    return pending
  }

  /// Clears the reference to the store, which is being freed.
  func leaveStore() { store = nil }

  /// Resets the states of the pending objects, which outlive their store.
  func orphan() {
    for object in takePending() {
      object.state.subtract([.pending, .inserted, .updated, .deleted, .editable])
    }
  }

  /// Reports a record that could not be read where no error can be thrown.
  func note(_ failure: FetchFailure) {
    guard let store else {
      logger.error("Content was needed after its store was released: \(failure.error)")
      return
    }
    store.note(failure)
  }
}
