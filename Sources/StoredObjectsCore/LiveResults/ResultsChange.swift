/// The place of an object among ``LiveResults``.
public struct ResultPlace: Hashable, Sendable {
  /// The index among all objects.
  public let index: Int
  /// The section; 0 in results without sections.
  public let section: Int
  /// The index in the section.
  public let item: Int
}

/// A change of ``LiveResults``: the inserted, removed, moved and updated objects.
///
/// To apply it to a list of your own, remove the elements at the places of ``removed`` and at the
/// starts of ``moved``, from last to first. Then insert elements at the places of ``inserted`` and
/// at the ends of ``moved``, from first to last:
///
///     let gone = change.removed.map(\.place.index) + change.moved.map(\.from.index)
///     for index in gone.sorted().reversed() { titles.remove(at: index) }
///     let new = change.inserted.map(\.place.index) + change.moved.map(\.to.index)
///     for index in new.sorted() { titles.insert(songs[index].title, at: index) }
///     for row in change.updated { titles[row.place.index] = songs[row.place.index].title }
///
/// The objects of inserted and removed sections are listed as well. You can send a value of this
/// type to another isolation domain.
public struct ResultsChange<Object: StoredObject>: Sendable {
  /// An object that was inserted, removed or updated.
  public struct Row: Hashable, Sendable {
    /// The ID of the object.
    public let id: ObjectID<Object>
    /// The place of the object: before the change if it was removed, otherwise after it.
    public let place: ResultPlace
  }

  /// An object that has moved.
  public struct Move: Hashable, Sendable {
    /// The ID of the object.
    public let id: ObjectID<Object>
    /// The place of the object before the change.
    public let from: ResultPlace
    /// The place of the object after the change.
    public let to: ResultPlace
  }

  /// The removed objects, with their places before the change, in ascending order.
  public let removed: [Row]
  /// The inserted objects, with their places after the change, in ascending order.
  public let inserted: [Row]
  /// The objects whose places relative to the others have changed.
  ///
  /// They are in ascending order of their places after the change.
  public let moved: [Move]
  /// The objects that have changed without moving, with their places after the change.
  ///
  /// They are in ascending order. An object is listed when it was edited, even if no value differs.
  public let updated: [Row]
  /// The removed sections, by their numbers before the change, in ascending order.
  public let removedSections: [Int]
  /// The inserted sections, by their numbers after the change, in ascending order.
  public let insertedSections: [Int]
  /// Whether you have to read the results again, because more has changed than was kept.
  ///
  /// The lists are then empty.
  public let isReset: Bool
  /// The number of objects after the change.
  public let count: Int

  init(_ change: RowsChange, _ names: QueryClassNames) {
    func row(_ row: RowsChange.Row) -> Row { Row(id: names.id(of: row.key), place: row.place) }
    removed = change.removed.map(row)
    inserted = change.inserted.map(row)
    moved = change.moved.map { Move(id: names.id(of: $0.key), from: $0.from, to: $0.to) }
    updated = change.updated.map(row)
    (removedSections, insertedSections) = (change.removedSections, change.insertedSections)
    (isReset, count) = (change.isReset, change.count)
  }
}
