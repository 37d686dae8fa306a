import StoreEngine

/// The base class of all objects in a ``Store``.
///
/// A subclass declares its content with ``Content``, and defines how it is written and read:
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
/// An object in a store is one row of its class. While it is in memory, every access to that row
/// returns the same instance, so `==` and `===` are equivalent. It starts as a *fault*, an object
/// whose record has not been read; reading a property reads the record. The store retains only
/// objects with unsaved changes. Other objects exist as long as the application or another object
/// refers to them.
///
/// A chain of objects can have any length: releasing it takes no stack for each object.
///
/// Objects belong to the isolation domain of their store and are not `Sendable`. If an object fetches
/// itself by its row ID in its own `deinit`, and something retains it longer, the runtime traps.
open class StoredObject {
  // These three are read and written as a whole, in one isolation domain, so accesses can't
  // overlap.
  @safe @exclusivity(unchecked)
  @usableFromInline final var state: ObjectState = [.hasContent, .detached]
  /// The row ID, which is unique in its class and never reused; 0 while the object is in no store.
  @safe @exclusivity(unchecked)
  public internal(set) final var rowID: UInt32 = 0
  /// The registration of the object's class; nil while the object is in no store.
  @safe @exclusivity(unchecked)
  @usableFromInline final var registration: RegisteredClass?

  /// Creates an object that is in no store yet; see ``Store/insert(_:)``.
  ///
  /// The store also creates faults with it, so it should only set defaults.
  public required init() {}

  deinit {
    if state.contains(.observed) { registration?.store?.observedObjects?.forget(self) }
    // Taken, not copied, which saves two reference counts.
    guard let registration = registration.take() else {
      if state.contains(.sample) { return }
      // In a store or not, an object may be the first one of a long chain.
      if let layout = ReferenceLayout.of(type(of: self)) { releaseReferences(layout) }
      return
    }
    registration.forget(rowID)
    if registration.hasNoReferences { return }
    if let layout = registration.references { releaseReferences(layout) }
  }

  // MARK: Properties of a class

  /// The version of the class's record layout, which is written with each record.
  ///
  /// Raise it when `writeContent(to:)` changes. In `readContent(from:)`, check
  /// ``/StoreEngine/DataBuffer/version`` to read records of earlier versions.
  open class var classVersion: UInt8 { 0 }

  /// The name of the class on disk: by default that of the type.
  ///
  /// The Tokyo Cabinet backend uses it as the name of the file.
  open class var storedName: String {
    // Like `String(describing:)`, which first checks three conformances that no metatype has.
    _typeName(Self.self, qualified: false)
  }

  /// The properties that the class writes, in order; nil by default.
  ///
  /// `@Stored` generates it. With a layout, the store reads records of earlier layouts by the names
  /// of the properties, and ``readContent(from:)`` only sees the current layout. See
  /// ``ClassLayout``.
  open class var layout: ClassLayout? { nil }

  /// The references with a delete rule or an inverse; none by default.
  ///
  /// A subclass adds its own to `super.relationships`. See ``Relationship``.
  open class var relationships: [Relationship] { [] }

  /// The indexes of the class, including unique ones; none by default.
  ///
  /// A subclass adds its own to `super.indexes`. See ``AttributeIndex``.
  open class var indexes: [AttributeIndex] { [] }

  /// The texts that full-text search covers; none by default.
  ///
  /// See ``FullTextAttribute``.
  open class var fullTextAttributes: [FullTextAttribute] { [] }

  /// Whether the store may use a second thread to read and write many objects; false by default.
  ///
  /// Return true if `init()`, ``readContent(from:)`` and ``writeContent(to:)`` access nothing but
  /// the object and the buffer, and the properties of ``indexes`` nothing but the object.
  /// ``Store/allObjects(of:)`` then takes two thirds of its time, and a save of many objects nine
  /// tenths. See <doc:Concurrency>.
  open class var isCodedOnAnyThread: Bool { false }

  // MARK: Methods to override

  /// Reads the properties from a record, in the order in which ``writeContent(to:)`` wrote them.
  ///
  /// Read all bytes, or skip them with ``/StoreEngine/DataBuffer/skipRemaining()``. Setting
  /// properties here is not a change. References that you read are faults: no other record is read.
  ///
  /// Complexity: that of your code; usually linear in the size of the record.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, or any error if the record can't be read.
  open func readContent(from buffer: inout DataBuffer) throws {}

  /// Writes the properties to a record.
  ///
  /// It must not change any object.
  ///
  /// Complexity: that of your code; usually linear in the size of the record.
  ///
  /// - Throws: Any error if the object can't be saved as it is; the save fails with it.
  open func writeContent(to buffer: inout DataBuffer) throws {}

  /// Prepares the object for deletion; ``Store/delete(_:)`` calls it.
  ///
  /// Override it for delete rules, such as deleting the parts of this object or removing it from
  /// lists that hold it.
  open func prepareForDelete() {}

  /// Removes the references to all other objects, to break cycles of strong references.
  ///
  /// The store does so itself for ``Content`` properties, and `@Stored` generates it. Override it
  /// to set other references to nil and lists to []. This is not a change: the store makes the
  /// object a fault again. See ``Store/dissolveAllRelationships()``.
  open func dissolveAllRelationships() {}

  /// Resolves the properties that both this object and another store have changed.
  ///
  ///     override func merge(base: StoredObject, theirs: StoredObject) -> Bool {
  ///       guard let base = base as? Account, let theirs = theirs as? Account else { return false }
  ///       balance += theirs.balance - base.balance
  ///       return true
  ///     }
  ///
  /// Called during a save with the policy ``ConflictPolicy/merge``, if both sides have given a
  /// property different values. All other changes are already merged, and those properties have the
  /// values of this side. Set them to their final values, and change no other object.
  ///
  /// - Parameters:
  ///   - base: The object before its first change here. It is in no store.
  ///   - theirs: The object as the other store saved it. It is in no store.
  /// - Returns: Whether the properties are resolved; false, the default, is a conflict.
  open func merge(base: StoredObject, theirs: StoredObject) -> Bool { false }
}

extension StoredObject {
  /// The store of the object; nil before its insertion and after its deletion.
  public final var store: Store? { registration?.store }

  /// A Boolean value that indicates whether the next save will delete the object.
  public final var isDeleted: Bool { state.contains(.deleted) }

  /// A Boolean value that indicates whether the next save will write or delete the object.
  public final var hasUnsavedChanges: Bool { state.change != nil }
}

extension StoredObject: Hashable {
  /// Returns whether both are the same object, which in one store means the same row.
  public static func == (left: StoredObject, right: StoredObject) -> Bool { left === right }

  /// Hashes the identity of the object, not its content.
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

@available(*, unavailable) extension StoredObject: Sendable {}
