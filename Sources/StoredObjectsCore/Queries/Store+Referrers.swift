import StoreEngine

extension Store {
  /// Returns the objects that refer to an object through a property.
  ///
  ///     let lists = try store.referrers(of: song, through: \Playlist.songs)
  ///
  /// The objects come class by class, in row order. The result includes unsaved changes.
  ///
  /// Complexity: O(log n) plus the number of objects found, if the class has an ``AttributeIndex``
  /// of the property (``AttributeIndex/init(_:toMany:)``). Otherwise all objects of the class are
  /// read.
  ///
  /// - Parameters:
  ///   - target: An object of this store. Another object has no referrers.
  ///   - property: A list of objects.
  ///   - includingSubclasses: Whether to include objects of registered subclasses.
  /// - Returns: The objects of the class, and then those of its subclasses.
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func referrers<Source: StoredObject, List: Collection>(
    of target: StoredObject, through property: KeyPath<Source, List>,
    includingSubclasses: Bool = false
  ) throws(StoreError) -> [Source] where List.Element: StoredObject {
    try referrers(to: target, property, includingSubclasses) {
      $0[keyPath: property].contains { $0 === target }
    }
  }

  /// Returns the objects that refer to an object through a property.
  ///
  /// The objects come class by class, in row order. The result includes unsaved changes.
  ///
  /// Complexity: O(log n) plus the number of objects found, if the class has an ``AttributeIndex``
  /// of the property. Otherwise all objects of the class are read.
  ///
  /// - Parameters:
  ///   - target: An object of this store. Another object has no referrers.
  ///   - property: A reference to one object.
  ///   - includingSubclasses: Whether to include objects of registered subclasses.
  /// - Returns: The objects of the class, and then those of its subclasses.
  /// - Throws: The errors of ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func referrers<Source: StoredObject, Target: StoredObject>(
    of target: Target, through property: KeyPath<Source, Target?>,
    includingSubclasses: Bool = false
  ) throws(StoreError) -> [Source] {
    try referrers(to: target, property, includingSubclasses) {
      $0[keyPath: property] === target
    }
  }

  private func referrers<Source: StoredObject>(
    to target: StoredObject, _ property: AnyKeyPath, _ includingSubclasses: Bool,
    _ refers: (Source) -> Bool
  ) throws(StoreError) -> [Source] {
    let entries = try registrations(of: Source.self, includingSubclasses: includingSubclasses)
    guard target.store === self else { return [] }
    settleRelationships()
    var found: [Source] = []
    for entry in entries { found += try referrers(to: target, property, of: entry, refers) }
    return found
  }

  private func referrers<Source: StoredObject>(
    to target: StoredObject, _ property: AnyKeyPath, of entry: RegisteredClass,
    _ refers: (Source) -> Bool
  ) throws(StoreError) -> [Source] {
    do {
      let own = OwnContents(self, entry)
      var found: [Source] = []
      for object in own.objects {
        if let object = object as? Source, refers(object) { found.append(object) }
      }
      try forEachCandidate(entry, target, property) { (object: Source) in
        if !own.rows.contains(object.rowID), refers(object) { found.append(object) }
      }
      return found.sorted { $0.rowID < $1.rowID }
    } catch { throw entry.queryError(error) }
  }

  /// Calls a closure with each saved object that may refer to another.
  private func forEachCandidate<Source: StoredObject>(
    _ entry: RegisteredClass, _ target: StoredObject, _ property: AnyKeyPath,
    _ body: (Source) -> Void
  ) throws {
    let property = property.inherited(by: entry.type)
    let index = entry.indexes.first { $0.declaration.properties.first == property }
    guard let index, try prepare(index, of: entry) else {
      var cursor = RowCursor(self, entry, keepsObjects: false)
      while let object = try cursor.next() { if let object = object as? Source { body(object) } }
      return
    }
    // In the key of an optional reference, the first byte says whether there is a value.
    let start: [UInt8] = index.declaration.isMultiple ? [] : [1]
    let range = KeyRange.prefix([RegisteredIndex.mark] + start + IndexKey(target).bytes)
    let part = IndexRanges(index: index, ranges: [range], count: 0, properties: [], fixedCount: 0)
    var walk = IndexWalk(backend, part, isReversed: false)
    while let row = try walk.next() {
      if let object = try object(entry, rowID: row) as? Source { body(object) }
    }
  }

  /// Returns the saved rows that refer to an object, by an index of the property; nil without one.
  func savedReferrers(
    of target: StoredObject, through property: AnyKeyPath, _ entry: RegisteredClass
  ) throws(StoreError) -> [UInt32]? {
    let property = property.inherited(by: entry.type)
    guard let index = entry.indexes.first(where: { $0.declaration.properties.first == property })
    else { return nil }
    do {
      guard try prepare(index, of: entry) else { return nil }
      var rows: [UInt32] = []
      let start: [UInt8] = index.declaration.isMultiple ? [] : [1]
      try index.forEachRow(start + IndexKey(target).bytes, backend) { row in
        rows.append(row)
        return true
      }
      return rows
    } catch { throw entry.queryError(error) }
  }
}
