import StoreEngine

extension RelationshipKeeper {
  /// Applies the delete rules to an object that is being deleted.
  func didDelete(_ object: StoredObject, _ entry: RegisteredClass, _ store: Store) {
    // An object that can't be read, perhaps because another store deleted it, has no known
    // references.
    for end in ends(of: entry) where object.hasContent {
      switch end.relationship.deleteRule {
      case .cascade: cascade += quietly { end.targets(of: object) }
      case .nullify: quietly { nullify(object, end) }
      case .deny, .noAction: break
      }
    }
    quietly { removeReferences(to: object, entry, store) }
    applyChangesOutsideOfStore()
    deleteCascade(store)
  }

  /// Removes references to an object whose insertion was undone.
  ///
  /// Other objects may have saved references to it since.
  func didTakeBackInsertion(
    of object: StoredObject, _ entry: RegisteredClass, _ store: Store
  ) {
    quietly { removeReferences(to: object, entry, store) }
    applyChangesOutsideOfStore()
  }

  /// Restores the references to a deleted object that is inserted again.
  func didUndelete(_ object: StoredObject, _ entry: RegisteredClass) {
    for (list, location) in losses.take(object) where list.object.registration != nil {
      guard list.end.kind == .one else {
        postpone(.restoration(list, location), of: list.object, list.end)
        continue
      }
      quietly {
        if list.end.target(of: list.object) == nil { list.end.setTarget(of: list.object, object) }
      }
    }
    didInsert(object, entry)
  }

  /// Deletes without recursion, because a chain may be long.
  private func deleteCascade(_ store: Store) {
    guard !isCascading else { return }
    isCascading = true
    defer { isCascading = false }
    while let next = cascade.popLast() { store.delete(next) }
  }

  private func nullify(_ object: StoredObject, _ end: RelationshipEnd) {
    guard end.hasInverse else { return }
    if end.kind == .one {
      if let target = end.target(of: object) { nullify(object, target, end) }
      return
    }
    for target in ChangedTargets([], end.targets(of: object)).targets {
      nullify(object, target, end)
    }
  }

  private func nullify(_ object: StoredObject, _ target: StoredObject, _ end: RelationshipEnd) {
    guard !target.isDeleted, let inverse = inverse(of: end, in: target) else { return }
    removeDeleted(object, from: target, inverse)
  }

  /// Removes an object that is being deleted from an object that refers to it.
  private func removeDeleted(
    _ object: StoredObject, from source: StoredObject, _ end: RelationshipEnd
  ) {
    guard end.kind == .one else {
      return postpone(ListChange(object: object, kind: .deletion), of: source, end)
    }
    guard end.target(of: source) === object else {
      source.store?.relyOn(source)
      return
    }
    end.setTarget(of: source, nil)
    losses.append([LostElement(object: object, index: 0)], of: source, end)
  }

  /// Removes the references to an object from relationships without an inverse.
  private func removeReferences(
    to object: StoredObject, _ entry: RegisteredClass, _ store: Store
  ) {
    guard let key = object.key else { return }
    for end in ends.joined()
    where !end.hasInverse && end.relationship.deleteRule != .noAction
      && entry.isKind(of: end.relationship.target)
    {
      do {
        for row in try candidates(for: object, key, end, store) {
          guard let source = try store.object(end.source, rowID: row) else { continue }
          removeDeleted(object, from: source, end)
        }
      } catch {
        end.source.note(FetchFailure(object: object, error: error))
      }
    }
  }

  /// Returns the rows whose objects may refer to an object.
  private func candidates(
    for object: StoredObject, _ key: ObjectKey, _ end: RelationshipEnd, _ store: Store
  ) throws(StoreError) -> [UInt32] {
    store.collectChangesElsewhere()
    end.index.dropIfStale(end.source.shared)
    if end.index.value == nil { (end.lookUpCount, end.knowsSaved) = (0, false) }
    if !end.knowsSaved, try isLookUpCheaper(end, store),
      let saved = try store.savedReferrers(
        of: object, through: end.relationship.property, end.source)
    {
      // An attribute index covers the saved objects, so only unsaved ones have to be read.
      if end.index.value == nil { buildIndexOfUnsaved(end) }
      let unsaved = end.index.value?.candidates(for: key) ?? []
      return unsaved.isEmpty ? saved : Set(saved + unsaved).sorted()
    }
    if !end.knowsSaved { try buildIndex(end, store) }
    return end.index.value?.candidates(for: key) ?? []
  }

  /// Whether looking up an object costs less than reading all objects of the class once.
  private func isLookUpCheaper(
    _ end: RelationshipEnd, _ store: Store
  ) throws(StoreError) -> Bool {
    end.lookUpCount += 1
    if end.lookUpCount < 16 { return true }
    return end.lookUpCount * 32 < (try store.count(of: end.source))
  }

  /// Builds the index of an end's references, which reads all objects of its class.
  private func buildIndex(_ end: RelationshipEnd, _ store: Store) throws(StoreError) {
    let commitCount = end.source.shared.commitCount
    var index = ReferenceIndex()
    var cursor = RowCursor(store, end.source, keepsObjects: false)
    while let source = try cursor.next() { note(source, end, in: &index) }
    end.index.set(index, asOf: commitCount)
    end.knowsSaved = true
  }

  private func buildIndexOfUnsaved(_ end: RelationshipEnd) {
    var index = ReferenceIndex()
    for source in end.source.pending { note(source, end, in: &index) }
    end.index.set(index, asOf: end.source.shared.commitCount)
  }

  private func note(
    _ source: StoredObject, _ end: RelationshipEnd, in index: inout ReferenceIndex
  ) {
    for target in end.targets(of: source) {
      if let key = target.key { index.note(source.rowID, refersTo: key) }
    }
  }

  /// Throws `deleteDenied` for the first deletion that a rule forbids.
  func checkDeleteRules(_ classes: [RegisteredClass]) throws(StoreError) {
    for entry in classes where entry.changeCounts.deletes > 0 {
      for end in ends(of: entry) where end.relationship.deleteRule == .deny {
        for object in entry.pending where object.state.change == .delete && object.hasContent {
          guard let target = end.targets(of: object).first(where: { !$0.isDeleted }) else {
            continue
          }
          throw StoreError(
            .deleteDenied,
            """
            The object still refers to \(type(of: target).storedName) row \(target.rowID), and its \
            delete rule denies the deletion: delete that object first, or insert(_:) this one \
            again.
            """, at: entry.location(object.rowID))
        }
      }
    }
  }
}
