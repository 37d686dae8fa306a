extension Store {
  /// Inserts an object, or brings up to date the one that has its unique values.
  ///
  ///     let song = try store.insertOrUpdate(Song(number: 42, title: "Sunny"))
  ///
  /// An object that is there, saved or not, takes over the whole content of the new one, which then
  /// stays outside of the store.
  ///
  /// Complexity: constant time, once the class's values are known, see ``UniqueConstraint``.
  ///
  /// - Returns: the object that is in the store: the one that was given, or the one that was there.
  /// - Throws: ``StoreError`` with `notRegistered`, `notUnique` (the values are those of two
  ///   objects), `notEncodable`, or what reading an object throws.
  @discardableResult
  public func insertOrUpdate<Object: StoredObject>(
    _ object: Object
  ) throws(StoreError) -> Object {
    let entry = try requireRegistration(of: type(of: object))
    var found: StoredObject?
    for constraint in entry.uniqueConstraints {
      guard let values = constraint.values(object),
        let other = try self.object(entry, with: values, by: constraint), other !== object
      else { continue }
      if let found, found !== other { throw notUnique(constraint, entry, other.rowID, found.rowID) }
      found = other
    }
    guard let found, let existing = found as? Object else {
      insert(object)
      return object
    }
    let content = try contentImage(of: object, entry)
    willUpdate(existing)
    try setContent(of: existing, entry, to: content)
    existing.noteObservedChange()
    return existing
  }

  /// The object that has a value in a unique property, saved or not.
  ///
  ///     let song = try store.object(Song.self, where: \.number, is: 42)
  ///
  /// Complexity: constant time, once the class's values are known, and linear in the number of
  /// unsaved objects.
  ///
  /// - Precondition: the property has a ``UniqueConstraint`` of its own.
  ///
  /// - Throws: ``StoreError`` with `notRegistered`, or what reading an object throws.
  public func object<Object: StoredObject, Value: Hashable>(
    _ type: Object.Type, where property: KeyPath<Object, Value>, is value: Value
  ) throws(StoreError) -> Object? {
    let entry = try requireRegistration(of: type)
    guard let constraint = entry.uniqueConstraints.first(where: { $0.properties == [property] })
    else { preconditionFailure("\(property) is not unique: see UniqueConstraint.") }
    return try object(entry, with: [AnyHashable(value)], by: constraint) as? Object
  }

  private func object(
    _ entry: RegisteredClass, with values: [AnyHashable], by constraint: UniqueConstraint
  ) throws(StoreError) -> StoredObject? {
    collectChangesElsewhere()
    if let object = entry.written.first(where: { constraint.values($0) == values }) {
      return object
    }
    let indexes = try entry.readUniqueIndexes(self)
    guard let index = indexes.first(where: { $0.constraint.properties == constraint.properties }),
      let row = index.row(values), let object = try object(entry, rowID: row),
      // An unsaved change may have given it other values.
      constraint.values(object) == values
    else { return nil }
    return object
  }

  private func notUnique(
    _ constraint: UniqueConstraint, _ entry: RegisteredClass, _ row: UInt32, _ other: UInt32
  ) -> StoreError {
    let position = entry.uniqueConstraints.firstIndex { $0.properties == constraint.properties }
    return StoreError(
      .notUnique,
      """
      Row \(other) has the same values by uniqueConstraints[\(position ?? 0)] of the class: change \
      one of them, delete one, or use insertOrUpdate(_:).
      """, at: entry.place(row))
  }

  /// Stops a save that would break a constraint.
  func refuseDuplicates() throws(StoreError) {
    for entry in classes
    where !entry.uniqueConstraints.isEmpty
      && entry.changeCounts.inserts + entry.changeCounts.updates > 0
    {
      let pendingRows = RowSet(entry.pending.lazy.filter { $0.state.change != nil }.map(\.rowID))
      for index in try entry.readUniqueIndexes(self) {
        var seen: [[AnyHashable]: UInt32] = [:]
        for object in entry.written {
          guard let values = index.constraint.values(object) else { continue }
          let saved = index.row(values).flatMap { pendingRows.contains($0) ? nil : $0 }
          if let other = seen.updateValue(object.rowID, forKey: values) ?? saved {
            throw notUnique(index.constraint, entry, object.rowID, other)
          }
        }
      }
    }
  }

  /// What is pending is committed now.
  func updateUniqueIndexes() {
    for entry in classes {
      entry.uniqueIndexes.follow(entry.shared)
      guard let indexes = entry.uniqueIndexes.value else { continue }
      for object in entry.pending {
        guard let change = object.state.change else { continue }
        for index in indexes {
          index.set(object.rowID, change == .delete ? nil : index.constraint.values(object))
        }
      }
    }
  }
}
