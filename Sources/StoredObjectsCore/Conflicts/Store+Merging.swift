import StoreEngine

/// The side whose values a merge takes.
package enum MergeSide: Sendable { case mine, theirs }

/// Decides about an object that both sides have changed, with the other side's object and the names
/// of the properties; nil makes it a conflict.
///
/// Without another object, one side has deleted it and the other has changed it. The closure may
/// edit the object, and then returns `mine`.
package typealias MergeDecider = (StoredObject, StoredObject?, [String]) -> MergeSide?

extension Store {
  /// The maximum number of times that a save is retried after conflicts.
  static let mergeAttempts = 10

  /// Keeps the content of an object before its first change, for a later merge.
  func noteBase(of object: StoredObject, _ entry: RegisteredClass) {
    guard configuration.conflictPolicy == .merge, object.state.change == nil, object.hasContent,
      entry.coding != nil
    else { return }
    // An object that can't be encoded leads to a conflict later.
    if let key = object.key { mergeBases[key] = try? contentImage(of: object, entry) }
  }

  /// Resolves conflicts by the configured policy.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `conflict` for an object that can't be merged,
  ///   which then stays as it was.
  func resolveConflicts() throws(StoreError) {
    let policy = configuration.conflictPolicy
    settleRelationships()
    mergeChanges()
    if policy != .mine {
      var merges: [ObjectMerge] = []
      for entry in classes {
        for object in entry.pending
        where object.state.differsFromSaved && isChangedElsewhere(object.rowID, entry) {
          if let merge = try merge(of: object, entry, policy) { merges.append(merge) }
        }
      }
      for merge in merges { try apply(merge) }
    }
    keepConflictingChanges()
  }

  /// Returns the merged content of an object; nil if it stays as it is here.
  private func merge(
    of object: StoredObject, _ entry: RegisteredClass, _ policy: ConflictPolicy
  ) throws(StoreError) -> ObjectMerge? {
    guard object.state.change == .update, let theirs = try savedObject(object.rowID, entry) else {
      if mergeDecider?(object, nil, []) == .mine { return nil }
      throw conflict("This object was deleted on one side and changed on the other.", object.key)
    }
    let image = try contentImage(of: theirs, entry)
    if policy == .theirs {
      return ObjectMerge(
        object: object, entry: entry, content: image, theirs: image, undecided: nil)
    }
    let mine = try contentImage(of: object, entry)
    guard let base = object.key.flatMap({ mergeBases[$0] }), let coding = entry.coding,
      mine.strangers.isEmpty && base.strangers.isEmpty && image.strangers.isEmpty
    else {
      throw conflict("The earlier content of this object is not known.", object.key)
    }
    do {
      let merged = try PropertyMerge(
        coding, base: base.bytes, mine: mine.bytes, theirs: image.bytes)
      let content = ContentImage(bytes: merged.content, version: entry.version)
      let other = ContentImage(bytes: merged.contentOfTheirs, version: entry.version)
      return ObjectMerge(
        object: object, entry: entry, content: content, theirs: image,
        undecided: merged.undecided.isEmpty ? nil : (merged.undecided, base, theirs, mine, other))
    } catch {
      throw .wrapping(error, .notEncodable, at: entry.location(object.rowID))
    }
  }

  private func apply(_ merge: ObjectMerge) throws(StoreError) {
    let (object, entry) = (merge.object, merge.entry)
    try setContent(of: object, entry, to: merge.content)
    object.noteObservedChange()
    if let undecided = merge.undecided { try decide(object, entry, merge.content, undecided) }
    // If it is merged once more, its content stays the same.
    if let key = object.key { mergeBases[key] = merge.theirs }
  }

  /// Lets the class resolve properties that both sides have changed.
  private func decide(
    _ object: StoredObject, _ entry: RegisteredClass, _ content: ContentImage,
    _ undecided: ObjectMerge.Undecided
  ) throws(StoreError) {
    let base = entry.type.init()
    base.state = []
    try setContent(of: base, entry, to: undecided.base)
    base.state = [.hasContent, .detached]
    if object.merge(base: base, theirs: undecided.theirs) { return }
    if mergeDecider != nil { try setContent(of: object, entry, to: content) }
    switch mergeDecider?(object, undecided.theirs, undecided.properties) {
    case .mine: return
    case .theirs: return try setContent(of: object, entry, to: undecided.other)
    case nil: break
    }
    try setContent(of: object, entry, to: undecided.mine)
    let names = undecided.properties.joined(separator: ", ")
    throw conflict("This object and another store have both changed \(names).", object.key)
  }
}

/// The new content of an object that two stores have changed.
private struct ObjectMerge {
  let object: StoredObject
  let entry: RegisteredClass
  let content: ContentImage
  /// The content that the other store saved.
  let theirs: ContentImage
  /// The properties that both sides have changed, with the object before, elsewhere and here, and
  /// the merged content with the values from elsewhere.
  let undecided: Undecided?

  typealias Undecided = (
    properties: [String], base: ContentImage, theirs: StoredObject, mine: ContentImage,
    other: ContentImage
  )
}
