/// What the store knows of one object.
///
/// The default, nothing, is a fault.
@usableFromInline struct ObjectState: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt16
  @usableFromInline init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The properties hold what the record says, or what the application has set.
  @usableFromInline static let hasContent = ObjectState(rawValue: 1)
  /// New: no save has written it yet.
  @usableFromInline static let inserted = ObjectState(rawValue: 2)
  /// Changed since the last save.
  @usableFromInline static let updated = ObjectState(rawValue: 4)
  /// To be removed by the next save.
  @usableFromInline static let deleted = ObjectState(rawValue: 8)
  /// Its properties are being set from its record, which is no change.
  @usableFromInline static let loading = ObjectState(rawValue: 16)
  /// In its class's list of pending objects, which holds it strongly.
  @usableFromInline static let pending = ObjectState(rawValue: 32)

  /// The store has been told that the object changes, and an undo manager what it was like before.
  @usableFromInline static let editable = ObjectState(rawValue: 128)

  /// Of a class with relationships: there is more to do before it is read or changed.
  @usableFromInline static let attentive = ObjectState(rawValue: 256)

  /// Someone waits for changes of its properties.
  @usableFromInline static let observed = ObjectState(rawValue: 512)

  /// Objects whose accessors have more to do.
  @usableFromInline static let special: ObjectState = [.attentive, .observed]

  /// In no store.
  @usableFromInline static let detached = ObjectState(rawValue: 64)

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
