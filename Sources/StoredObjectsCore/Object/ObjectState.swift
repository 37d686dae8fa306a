import StoreEngine

/// The state of an object, as its store knows it.
///
/// The empty set is a fault.
@usableFromInline struct ObjectState: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt16
  @inlinable init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The properties hold the content of the record, or what the application has set.
  @inlinable static var hasContent: ObjectState { ObjectState(rawValue: 1) }
  /// New: not written by any save yet.
  @inlinable static var inserted: ObjectState { ObjectState(rawValue: 2) }
  /// Changed since the last save.
  @inlinable static var updated: ObjectState { ObjectState(rawValue: 4) }
  /// All states that a save may have to handle.
  static var changes: ObjectState { [.inserted, .updated, .deleted] }
  /// To be deleted by the next save.
  @inlinable static var deleted: ObjectState { ObjectState(rawValue: 8) }
  /// The properties are being set from the record, which is not a change.
  @inlinable static var loading: ObjectState { ObjectState(rawValue: 16) }
  /// In the class's list of pending objects, which retains it.
  @inlinable static var pending: ObjectState { ObjectState(rawValue: 32) }

  /// The store has been notified of the change, and the undo manager has the content before it.
  @inlinable static var editable: ObjectState { ObjectState(rawValue: 128) }

  /// Of a class with relationships, which need work before a property is read or changed.
  @inlinable static var attentive: ObjectState { ObjectState(rawValue: 256) }

  /// Observed: changes of its properties are reported.
  @inlinable static var observed: ObjectState { ObjectState(rawValue: 512) }

  /// The class or the store needs to know of each access.
  @inlinable static var special: ObjectState { [.attentive, .observed] }

  /// The delegate is notified of the change once it has been made.
  @inlinable static var changing: ObjectState { ObjectState(rawValue: 1_024) }

  /// Deleted, and the deletion has been saved.
  @inlinable static var departed: ObjectState { ObjectState(rawValue: 2_048) }

  /// Created to find out what the class writes or reads: refers to no other object, freed at once.
  @inlinable static var sample: ObjectState { ObjectState(rawValue: 4_096) }

  /// A property is being changed in place, and live results are notified afterwards.
  @inlinable static var beingModified: ObjectState { ObjectState(rawValue: 8_192) }

  /// The states in which accessors have more to do.
  @inlinable static var notPlain: ObjectState {
    [.attentive, .observed, .changing, .beingModified]
  }

  /// In no store.
  @inlinable static var detached: ObjectState { ObjectState(rawValue: 64) }

  /// Whether the object has no content and is not being read.
  @inline(__always) var isFault: Bool { isDisjoint(with: [.hasContent, .loading, .deleted]) }

  /// Whether the object differs from the saved one.
  ///
  /// True also for an object that was inserted and deleted again: another store may have saved its
  /// row.
  var differsFromSaved: Bool { change != nil || contains(.deleted) }

  /// The change that the next save makes to the object, if any.
  var change: ChangeSet.Kind? {
    switch (contains(.inserted), contains(.deleted)) {
    case (true, true): nil
    case (true, false): .insert
    case (false, true): .delete
    case (false, false): contains(.updated) ? .update : nil
    }
  }
}
