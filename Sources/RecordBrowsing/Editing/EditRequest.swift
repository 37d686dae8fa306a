package import StoreEngine

/// One change of an object.
package enum EditAction: Sendable {
  /// Sets properties of an object.
  case set(ObjectAddress, version: String?, values: [(name: String, value: StoredValue)])
  /// Inserts an object into a list of references.
  case insertReference(
    ObjectAddress, version: String?, property: String, at: Int, reference: ObjectAddress)
  /// Removes an object from a list of references.
  case removeReference(ObjectAddress, version: String?, property: String, at: Int)
  /// Moves an object in a list of references.
  case moveReference(ObjectAddress, version: String?, property: String, from: Int, to: Int)
  /// Inserts an object; missing properties get the value that new values of their type have.
  case insert(className: String, values: [(name: String, value: StoredValue)])
  /// Deletes an object.
  case delete(ObjectAddress, version: String?)
}

/// The changes of one save.
package struct EditRequest: Sendable {
  /// The changes, in order.
  package var actions: [EditAction]
  /// The effects that the user has agreed to; see ``Confirmation``.
  package var confirmations: Set<Confirmation>

  /// Creates a request.
  package init(_ actions: [EditAction], confirmations: Set<Confirmation> = []) {
    (self.actions, self.confirmations) = (actions, confirmations)
  }

  /// An effect of an edit that its user has to agree to.
  package enum Confirmation: String, Sendable, CaseIterable {
    /// Objects that refer to a deleted one lose these references.
    case references
    /// Two objects have the same values in an index in which all values are different.
    case duplicate
    /// Both sides of what may be inverses are set.
    case bothSides
    /// Only one side of what may be inverses is set.
    case oneSide
  }
}

/// The result of an edit.
package struct EditResult: Sendable {
  /// The number of the commit; nil if nothing has changed.
  package var commit: UInt64?
  /// The objects that were changed, those of the request first.
  package var ids: [String] = []
  /// The indexes that the program has to build again.
  package var clearedIndexes: [String] = []
  /// A short description of the edit.
  package var title = ""
}
