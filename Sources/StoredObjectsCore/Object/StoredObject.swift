import StoreEngine

/// The base class of everything that a ``Store`` keeps.
///
/// A subclass declares its content with ``Content``, and says how it is written and read:
///
///     final class Song: StoredObject {
///       @Content var title = ""
///       @Content var seconds = 0
///
///       override func writeContent(to buffer: inout DataBuffer) {
///         buffer.write(title)
///         buffer.write(seconds)
///       }
///       override func readContent(from buffer: inout DataBuffer) throws {
///         title = try buffer.readString()
///         seconds = try buffer.readInt()
///       }
///     }
///
/// An object of a store is one row of its class. While it is alive, every way to that row leads to
/// this same instance, so that `==` and `===` say the same. It begins as a *fault*, an object whose
/// record has not been read; reading a property reads the record. The store holds only objects with
/// unsaved changes: the others live as long as the application, or another object, refers to them.
///
/// A chain of objects may have any length: releasing it takes no stack for each object.
///
/// Objects belong to the isolation domain of their store and are not `Sendable`. An object must not
/// fetch itself by its row ID in its own `deinit`: it is no longer there, and that traps.
open class StoredObject {
  // The three are read and written whole, in one isolation domain, so no access can meet another.
  @safe @exclusivity(unchecked)
  @usableFromInline final var state: ObjectState = [.hasContent, .detached]
  /// The row ID, unique in its class and never used again; 0 while the object is in no store.
  @safe @exclusivity(unchecked)
  public internal(set) final var rowID: UInt32 = 0
  /// The class's entry in the store; nil while the object is in no store.
  @safe @exclusivity(unchecked)
  @usableFromInline final var registration: RegisteredClass?

  /// Makes an object that is in no store yet, see ``Store/insert(_:)``.
  ///
  /// The store makes faults with it too, so it should set defaults and do no more.
  public required init() {}

  deinit {
    if state.contains(.observed) { registration?.store?.observedObjects?.forget(self) }
    guard let registration else {
      if state.contains(.sample) { return }
      // Of a store or not, an object may be the first of a long chain.
      if let layout = ReferenceLayout.of(type(of: self)) { releaseReferences(layout) }
      return
    }
    registration.forget(rowID)
    if let layout = registration.references { releaseReferences(layout) }
  }

  // MARK: What a class says of itself

  /// The version of the class's record layout, written with each record.
  ///
  /// Raise it when `writeContent(to:)` changes, and let `readContent(from:)` look at
  /// ``/StoreEngine/DataBuffer/version`` to read what earlier versions wrote.
  open class var classVersion: UInt8 { 0 }

  /// The name of the class on disk: that of the type, unless overridden.
  ///
  /// The Tokyo Cabinet backend names the file so.
  open class var storedName: String {
    // As `String(describing:)`, which first asks for three conformances that no type has.
    _typeName(Self.self, qualified: false)
  }

  /// The properties that the class writes, in order; nil, unless overridden.
  ///
  /// `@Stored` writes it. With a layout, the store reads records of earlier layouts by the names of
  /// the properties, and ``readContent(from:)`` sees today's only. See ``ClassLayout``.
  open class var layout: ClassLayout? { nil }

  /// The references that have a delete rule or an inverse, see ``Relationship``; none, unless
  /// overridden.
  ///
  /// A subclass adds its own to `super.relationships`.
  open class var relationships: [Relationship] { [] }

  /// By what the objects of the class can be found quickly, and what no two of them have in common,
  /// see ``AttributeIndex``; nothing, unless overridden.
  ///
  /// A subclass adds its own to `super.indexes`.
  open class var indexes: [AttributeIndex] { [] }

  /// The texts by whose words and letters the objects of the class can be found, see
  /// ``FullTextAttribute``; none, unless overridden.
  open class var fullTextAttributes: [FullTextAttribute] { [] }

  /// Whether the store may use a second thread to read and write many objects of the class, see
  /// <doc:Concurrency>; not unless overridden.
  ///
  /// It may where `init()`, ``readContent(from:)`` and ``writeContent(to:)`` touch nothing but the
  /// object and the buffer, and the properties of ``indexes`` nothing but the object.
  /// ``Store/allObjects(of:)`` then takes two thirds of its time, and a save of many objects nine
  /// tenths.
  open class var isCodedOnAnyThread: Bool { false }

  // MARK: What a subclass overrides

  /// Sets the properties from a record, in the order in which ``writeContent(to:)`` wrote them.
  ///
  /// All bytes must be read, or passed over by ``/StoreEngine/DataBuffer/skipRemaining()``. Setting
  /// properties here is no change. References that are read are faults: no other record is touched.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, or whatever says that the record can't be read.
  open func readContent(from buffer: inout DataBuffer) throws {}

  /// Writes the properties.
  ///
  /// Must not change any object.
  ///
  /// - Throws: whatever says that the object can't be saved as it is; the save fails with it.
  open func writeContent(to buffer: inout DataBuffer) throws {}

  /// Called by ``Store/delete(_:)``: the place for delete rules, such as deleting what belongs to
  /// this object, or removing it from the lists that hold it.
  open func prepareForDelete() {}

  /// Drops the references to all other objects, to break cycles of strong references.
  ///
  /// The store does so itself for properties with ``Content``, and `@Stored` writes it. Override it
  /// to set other references to nil and lists to []. It is no change: the store makes the object a
  /// fault again. See ``Store/dissolveAllRelationships()``.
  open func dissolveAllRelationships() {}

  /// Decides about properties that this object and another store have both changed.
  ///
  ///     override func merge(base: StoredObject, theirs: StoredObject) -> Bool {
  ///       guard let base = base as? Account, let theirs = theirs as? Account else { return false }
  ///       balance += theirs.balance - base.balance
  ///       return true
  ///     }
  ///
  /// Called during a save with the policy ``ConflictPolicy/merge``, when both sides have given a
  /// property different values. All other changes are merged by then, and those properties have the
  /// values of this side. Set them to what they are to be, and change no other object.
  ///
  /// - Parameters:
  ///   - base: What the object was when it was first changed here. It is in no store.
  ///   - theirs: What the other store has saved. It is in no store.
  /// - Returns: Whether the object is as it is to be; false, as by default, for a conflict.
  open func merge(base: StoredObject, theirs: StoredObject) -> Bool { false }
}

extension StoredObject {
  /// The store that the object is in, or nil before its insertion and after its deletion.
  public final var store: Store? { registration?.store }

  /// Whether the next save will remove the object.
  public final var isDeleted: Bool { state.contains(.deleted) }

  /// Whether the next save will write or remove the object.
  public final var hasUnsavedChanges: Bool { state.change != nil }
}

extension StoredObject: Hashable {
  /// Whether both are the same object, which in one store means the same row.
  public static func == (left: StoredObject, right: StoredObject) -> Bool { left === right }

  /// Hashes the identity of the object, not its content.
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

@available(*, unavailable) extension StoredObject: Sendable {}
