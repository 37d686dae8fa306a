import StoreEngine

/// What the store knows of one object.
///
/// The default, nothing, is a fault.
@usableFromInline struct ObjectState: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt16
  @inlinable init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The properties hold what the record says, or what the application has set.
  @inlinable static var hasContent: ObjectState { ObjectState(rawValue: 1) }
  /// New: no save has written it yet.
  @inlinable static var inserted: ObjectState { ObjectState(rawValue: 2) }
  /// Changed since the last save.
  @inlinable static var updated: ObjectState { ObjectState(rawValue: 4) }
  /// Everything that a save may have to do with.
  static var changes: ObjectState { [.inserted, .updated, .deleted] }
  /// To be removed by the next save.
  @inlinable static var deleted: ObjectState { ObjectState(rawValue: 8) }
  /// Its properties are being set from its record, which is no change.
  @inlinable static var loading: ObjectState { ObjectState(rawValue: 16) }
  /// In its class's list of pending objects, which holds it strongly.
  @inlinable static var pending: ObjectState { ObjectState(rawValue: 32) }

  /// The store has been told that the object changes, and an undo manager what it was like before.
  @inlinable static var editable: ObjectState { ObjectState(rawValue: 128) }

  /// Of a class with relationships: there is more to do before it is read or changed.
  @inlinable static var attentive: ObjectState { ObjectState(rawValue: 256) }

  /// Someone waits for changes of its properties.
  @inlinable static var observed: ObjectState { ObjectState(rawValue: 512) }

  /// Its class or its store wants to know of each access.
  @inlinable static var special: ObjectState { [.attentive, .observed] }

  /// The delegate hears of the change that is being made once it is made.
  @inlinable static var changing: ObjectState { ObjectState(rawValue: 1_024) }

  /// Was deleted, and is saved so.
  @inlinable static var departed: ObjectState { ObjectState(rawValue: 2_048) }

  /// Made to try what its class writes or reads: it leads to no other object, and is let go at once.
  @inlinable static var sample: ObjectState { ObjectState(rawValue: 4_096) }

  /// A property is being changed in place, and live results hear of it once it is.
  @inlinable static var beingModified: ObjectState { ObjectState(rawValue: 8_192) }

  /// Objects whose accessors have more to do.
  @inlinable static var notPlain: ObjectState {
    [.attentive, .observed, .changing, .beingModified]
  }

  /// In no store.
  @inlinable static var detached: ObjectState { ObjectState(rawValue: 64) }

  /// Whether the content is neither there nor being read.
  @inline(__always) var isFault: Bool { isDisjoint(with: [.hasContent, .loading, .deleted]) }

  /// Whether the object is another here than in the store.
  ///
  /// So is one that was inserted and deleted again: another store may have saved its row.
  var differsFromSaved: Bool { change != nil || contains(.deleted) }

  /// What the next save will do with the object, if anything.
  var change: ChangeSet.Kind? {
    switch (contains(.inserted), contains(.deleted)) {
    case (true, true): nil
    case (true, false): .insert
    case (false, true): .delete
    case (false, false): contains(.updated) ? .update : nil
    }
  }
}
