import StoreEngine

extension Store {
  /// The objects that refer to an object through a property, in the order of their rows; those of
  /// one class come after those of another.
  ///
  ///     let lists = try store.referrers(of: song, through: \Playlist.songs)
  ///
  /// Sees unsaved changes.
  ///
  /// Complexity: O(log n) and linear in the objects that are found, where the class has an
  /// ``AttributeIndex`` of the property (``AttributeIndex/init(_:toMany:)``); without one, all
  /// objects of the class are read.
  ///
  /// - Parameters:
  ///   - target: An object of the store; no other has referrers.
  ///   - property: A list of objects.
  ///   - includingSubclasses: Whether objects of registered subclasses count.
  /// - Returns: The objects of the class, and then those of its subclasses.
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
  public func referrers<Source: StoredObject, List: Collection>(
    of target: StoredObject, through property: KeyPath<Source, List>,
    includingSubclasses: Bool = false
  ) throws(StoreError) -> [Source] where List.Element: StoredObject {
    try referrers(to: target, property, includingSubclasses) {
      $0[keyPath: property].contains { $0 === target }
    }
  }

  /// The objects that refer to an object through a property, in the order of their rows; those of
  /// one class come after those of another.
  ///
  /// Sees unsaved changes.
  ///
  /// Complexity: O(log n) and linear in the objects that are found, where the class has an
  /// ``AttributeIndex`` of the property; without one, all objects of the class are read.
  ///
  /// - Parameters:
  ///   - target: An object of the store; no other has referrers.
  ///   - property: A reference to one object.
  ///   - includingSubclasses: Whether objects of registered subclasses count.
  /// - Returns: The objects of the class, and then those of its subclasses.
  /// - Throws: ``/StoreEngine/StoreError`` as ``fetch(_:where:sortedBy:limit:offset:after:)``.
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

  /// Visits the saved objects that may refer to another.
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
    // A reference that may be nil begins with whether it is there.
    let start: [UInt8] = index.declaration.isMultiple ? [] : [1]
    let range = KeyRange.prefix([RegisteredIndex.mark] + start + IndexKey(target).bytes)
    let part = IndexRanges(index: index, ranges: [range], count: 0, properties: [], fixedCount: 0)
    var walk = IndexWalk(backend, part, isReversed: false)
    while let row = try walk.next() {
      if let object = try object(entry, rowID: row) as? Source { body(object) }
    }
  }

  /// The saved rows whose objects refer to another, by an index of the property; nil without one.
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
