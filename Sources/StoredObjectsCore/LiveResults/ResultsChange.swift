/// The place of an object among ``LiveResults``.
public struct ResultPlace: Hashable, Sendable {
  /// The index among all objects.
  public let index: Int
  /// The section; 0 in results without sections.
  public let section: Int
  /// The index in the section.
  public let item: Int
}

/// A change of ``LiveResults``: which objects have come, gone, moved and changed.
///
/// To apply it to a list of your own, remove what is at the places of ``removed`` and at the starts
/// of ``moved``, the last one first. Then insert at the places of ``inserted`` and at the ends of
/// ``moved``, the first one first:
///
///     let gone = change.removed.map(\.place.index) + change.moved.map(\.from.index)
///     for index in gone.sorted().reversed() { titles.remove(at: index) }
///     let new = change.inserted.map(\.place.index) + change.moved.map(\.to.index)
///     for index in new.sorted() { titles.insert(songs[index].title, at: index) }
///     for row in change.updated { titles[row.place.index] = songs[row.place.index].title }
///
/// The objects of sections that come and go are listed as well. A value of this type can be sent to
/// another isolation domain.
public struct ResultsChange<Object: StoredObject>: Sendable {
  /// An object that has come, gone or changed.
  public struct Row: Hashable, Sendable {
    /// The ID of the object.
    public let id: ObjectID<Object>
    /// Where the object is, or was.
    public let place: ResultPlace
  }

  /// An object that has changed its place.
  public struct Move: Hashable, Sendable {
    /// The ID of the object.
    public let id: ObjectID<Object>
    /// Where the object was before the change.
    public let from: ResultPlace
    /// Where the object is after the change.
    public let to: ResultPlace
  }

  /// The objects that are gone, with their places before the change, in ascending order.
  public let removed: [Row]
  /// The objects that are new, with their places after the change, in ascending order.
  public let inserted: [Row]
  /// The objects that have changed so that their places among the others are different, in
  /// ascending order of their places after the change.
  public let moved: [Move]
  /// The objects that have changed otherwise, with their places after the change, in ascending
  /// order.
  ///
  /// An object is listed when it was edited, whether a value is different or not.
  public let updated: [Row]
  /// The sections that are gone, by their numbers before the change, in ascending order.
  public let removedSections: [Int]
  /// The sections that are new, by their numbers after the change, in ascending order.
  public let insertedSections: [Int]
  /// Whether the results have to be read again, because more has changed than was kept.
  ///
  /// The lists are empty then.
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
