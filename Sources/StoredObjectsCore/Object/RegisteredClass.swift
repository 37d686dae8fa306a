import Logging
import StoreEngine

/// One class of one store: its class ID, its living objects, its pending changes.
///
/// What is used for each object is not checked for exclusivity: it belongs to one isolation domain,
/// and no code of others runs during an access.
@usableFromInline final class RegisteredClass {
  let type: StoredObject.Type
  /// The number of the class in the store.
  let classID: UInt8
  /// The name on disk.
  let name: String
  /// How its records are written and read.
  var layouts: ClassLayouts { didSet { needsLayoutsSaved = layouts.needsSaving } }
  /// Whether the store doesn't have all layouts yet: each save asks.
  @safe @exclusivity(unchecked)
  private(set) var needsLayoutsSaved: Bool
  /// The first byte of the records that are written: the number of their layout.
  let version: UInt8
  /// The version that the class says it has.
  let classVersion: UInt8
  let table: TableID
  /// What the stores on the backend share about the class.
  let shared: SharedTable
  private let logger: Logger
  /// Nil once the store is let go, which objects outlive; it says so itself, see ``leaveStore()``.
  ///
  /// Not weak: a weak reference makes every other one to the store slow, for good.
  @safe @exclusivity(unchecked)
  private(set) unowned var store: Store?

  /// Whether the class has relationships that are kept, and whether one leads to the class itself.
  var isAttentive: Bool { specialState.contains(.attentive) }
  var refersToItself = false
  /// What the accessors of the class's objects have to do beside the usual.
  @safe @exclusivity(unchecked)
  var specialState: ObjectState = []

  /// The live results that want to know of changes of the class; nil without any.
  @safe @exclusivity(unchecked)
  var liveQueries: LiveQueries?

  /// The indexes that the class declares.
  let indexes: [RegisteredIndex]
  /// Whether others have saved layouts of the class since these were read.
  var mayBeOutdated = false
  /// Indexes of the class that it does not declare, but another program did; nil before they are
  /// looked for.
  var strangeIndexes: (tables: [OrderedTableID], asOf: UInt64)?

  /// The rows that the class has on disk, where nobody can change them; nil before they are needed.
  var unchangingRows: RowSet?

  /// Records of faults that have been read already; nil where a read is no round trip.
  let faultsAhead: FaultsAhead?

  /// The full-text index that the class declares.
  var fullText: RegisteredText?

  /// Where the objects of the class hold others; nil if they hold none.
  ///
  /// Found out when it is first asked for: it takes as long as opening a file.
  var references: ReferenceLayout? {
    if let knownReferences { return knownReferences }
    let references = ReferenceLayout.of(type)
    knownReferences = .some(references)
    return references
  }
  @safe @exclusivity(unchecked)
  private var knownReferences: ReferenceLayout??

  /// Whether records of the class may refer to values outside of them.
  let hasExternals: Bool

  /// How the contents of objects become values; nil for a class that doesn't declare its properties.
  private(set) lazy var coding: RecordCoding? = (try? DeclaredLayout.of(type))?.layout.map {
    RecordCoding($0.properties(at: classVersion))
  }

  /// How the records of the class are laid out.
  let format: ClassMetadata.Flags

  private let objects = UniquingTable()
  /// Objects whose state may matter to the next save, in the order in which they came.
  ///
  /// Each stands here once, and is held; its state says what is to be done.
  @safe @exclusivity(unchecked)
  private(set) var pending: [StoredObject] = []
  @safe @exclusivity(unchecked)
  private(set) var changeCounts = ChangeCounts()

  /// How many rows the next save will insert, write and remove.
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
    faultsAhead = store.backend.coordinator.isOrderedByServer ? FaultsAhead() : nil
    self.table = table
    self.shared = shared
    self.store = store
    self.logger = store.logger
    self.format = store.recordFormat(shared)
  }

  /// Whether each record begins with the version of its class.
  var versionsRecords: Bool { !format.contains(.unversionedRecords) }
  /// Whether each record ends with a checksum.
  var checksumsRecords: Bool { format.contains(.checksums) }

  /// Where an error about a row of this class happened.
  func location(_ rowID: UInt32? = nil, offset: Int? = nil) -> StoreError.Location {
    .init(path: store?.backend.location, className: name, rowID: rowID, offset: offset)
  }
}

// MARK: - Living objects

extension RegisteredClass {
  /// Whether a row ID was ever given out.
  func mayHave(_ rowID: UInt32) -> Bool { rowID > 1 && rowID <= shared.lastRowID }

  /// All living objects of the class.
  var livingObjects: [StoredObject] { objects.allObjects() }

  /// The living object of a row.
  func living(_ rowID: UInt32) -> StoredObject? { objects.object(rowID) }

  /// The living object of a row, or a fault.
  func object(_ rowID: UInt32) -> StoredObject { objects.object(rowID) ?? makeFault(rowID) }

  /// The living object of a row, or one that was made for it, or a fault.
  @inline(__always)
  func object(_ rowID: UInt32, orMade made: StoredObject?) -> StoredObject {
    guard let made else { return object(rowID) }
    if let living = objects.object(rowID) { return living }
    adopt(made, rowID)
    return made
  }

  /// The number of living objects.
  var livingCount: Int { objects.count }

  /// A fault for a row that has no living object.
  func makeFault(_ rowID: UInt32) -> StoredObject {
    let object = type.init()
    object.state = []
    adopt(object, rowID)
    faultsAhead?.note(rowID)
    return object
  }

  /// Makes an object that of a row.
  func adopt(_ object: StoredObject, _ rowID: UInt32) {
    object.rowID = rowID
    object.registration = self
    object.state.subtract([.detached, .departed])
    object.state.formUnion(specialState)
    objects.enter(object, rowID)
  }

  /// Makes an object one that is in no store.
  func release(_ object: StoredObject) {
    objects.remove(object.rowID)
    object.registration = nil
    object.rowID = 0
    object.state.insert(.detached)
    if object.state.contains(.observed) { store?.observedObjects?.forget(object) }
    object.state.subtract(.special)
  }

  /// An object of the class is going away.
  func forget(_ rowID: UInt32) { objects.remove(rowID) }
}

// MARK: - Pending changes

extension RegisteredClass {
  /// The one way in which the state of an object changes as to what a save will do.
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

  /// The pending objects that the next save writes: new and changed ones, but none that is deleted.
  var written: some Sequence<StoredObject> {
    pending.lazy.filter { $0.state.change == .insert || $0.state.change == .update }
  }

  /// The pending objects that the next save does something about: also those that are deleted.
  var changed: some Sequence<StoredObject> { pending.lazy.filter { $0.state.change != nil } }

  /// Lets go of pending objects that are marked as such no more.
  func removeSettledFromPending() { pending.removeAll { !$0.state.contains(.pending) } }

  /// Hands over the pending objects and starts with none.
  func takePending() -> [StoredObject] {
    defer {
      pending = []
      changeCounts = ChangeCounts()
    }
    return pending
  }

  /// The store is going away.
  func leaveStore() { store = nil }

  /// The objects stay behind, on their own.
  func orphan() {
    for object in takePending() {
      object.state.subtract([.pending, .inserted, .updated, .deleted, .editable])
    }
  }

  /// Remembers that a record could not be read where an error could not be thrown.
  func note(_ failure: FetchFailure) {
    guard let store else {
      logger.error("Content was asked for after its store had gone: \(failure.error)")
      return
    }
    store.note(failure)
  }
}
