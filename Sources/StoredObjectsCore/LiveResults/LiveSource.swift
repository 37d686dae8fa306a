import FoundationEssentials
import StoreEngine

/// The condition and the order of a live query, independent of its class.
final class LiveSource {
  typealias Test = (StoredObject) throws -> Bool

  let store: Store
  let type: StoredObject.Type
  let includesSubclasses: Bool
  /// The classes whose objects the query finds.
  private(set) var entries: [RegisteredClass]
  /// Whether evaluating an object may read other objects.
  private(set) var mayReachOthers: Bool
  private let orders: [QueryOrderKey]
  /// Returns the value that the objects of a section have in common; nil without sections.
  ///
  /// The first order is that of the sections.
  private let sectionValue: ((StoredObject) -> Any)?
  /// Tests whether the predicate holds, by class ID; empty without a predicate.
  private var tests: [UInt8: Test] = [:]
  private let makeTest: (RegisteredClass) -> (test: Test?, isLocal: Bool)
  private let makeQuery: (RegisteredClass) throws -> Query

  init<Object: StoredObject>(
    _ store: Store, _ type: Object.Type, includingSubclasses: Bool, _ predicate: Predicate<Object>?,
    _ orders: [QueryOrder<Object>], sectionValue: ((StoredObject) -> Any)? = nil
  ) throws(StoreError) {
    (self.store, self.type, includesSubclasses) = (store, type, includingSubclasses)
    self.orders = orders.map(\.key)
    self.sectionValue = sectionValue
    makeQuery = { try Query(store, $0, predicate, [], limit: nil) }
    makeTest = { entry in
      guard let predicate else { return (nil, true) }
      let (term, isLocal) = QueryTranslation.withReach(of: predicate, entry, store)
      return ({ object in try (object as? Object).map(term.read) ?? false }, isLocal)
    }
    (entries, mayReachOthers) = ([], false)
    try findClasses()
  }

  /// Determines again which classes are registered.
  func findClasses() throws(StoreError) {
    entries = try store.registrations(of: type, includingSubclasses: includesSubclasses)
    for entry in entries {
      let (test, isLocal) = makeTest(entry)
      tests[entry.classID] = test
      if entry.references == nil { continue }
      if !isLocal || !orders.allSatisfy({ entry.hasIndex(of: $0.property) }) {
        mayReachOthers = true
      }
    }
  }

  var isDescending: Bool { orders.last?.isDescending == true }
  var hasSections: Bool { sectionValue != nil }

  /// Whether the query finds objects of a class.
  func contains(_ classID: UInt8) -> Bool { entries.contains { $0.classID == classID } }

  /// Whether changes of a class may affect the query.
  func follows(_ classID: UInt8) -> Bool { mayReachOthers || contains(classID) }

  // MARK: Rows as numbers

  /// Returns the number that orders rows with equal sort keys.
  func tie(of key: ObjectKey) -> UInt64 {
    let number = UInt64(key.classID) << 32 | UInt64(key.rowID)
    return isDescending ? ~number : number
  }

  /// Returns the row of a tie.
  func key(of tie: UInt64) -> ObjectKey {
    let number = isDescending ? ~tie : tie
    return ObjectKey(
      classID: UInt8(truncatingIfNeeded: number >> 32), rowID: UInt32(truncatingIfNeeded: number))
  }

  // MARK: Evaluation

  /// Returns the place of an object in the order; nil if the predicate does not hold.
  func placement(of object: StoredObject, _ key: ObjectKey) throws -> Placement? {
    if let test = tests[key.classID], try !test(object) { return nil }
    return placement(ofMatching: object, key)
  }

  private func placement(ofMatching object: StoredObject, _ key: ObjectKey) -> Placement {
    var sortKey = IndexKey()
    var sectionLength = 0
    for (index, order) in orders.enumerated() {
      order.append(object, to: &sortKey)
      if index == 0, hasSections { sectionLength = sortKey.bytes.count }
    }
    return Placement(
      rank: RowRank(key: sortKey.bytes, tie: tie(of: key)), sectionLength: sectionLength,
      section: sectionValue?(object))
  }

  /// Returns the current place of a row's object in the order; nil if the query does not find it.
  func placement(of key: ObjectKey) throws(StoreError) -> Placement? {
    guard let entry = entries.first(where: { $0.classID == key.classID }),
      let object = try store.object(entry, rowID: key.rowID),
      !store.isDeletedElsewhere(object, entry)
    else { return nil }
    do {
      return try placement(of: object, key)
    } catch { throw entry.queryError(error) }
  }

  /// Visits all objects that the query finds, in no particular order.
  func forEachMatch(
    _ body: (ObjectKey, Placement) -> Void
  ) throws(StoreError) {
    for entry in entries {
      do {
        var walk = QueryWalk(try makeQuery(entry), limit: nil, offset: 0, after: nil)
        while let object = try walk.nextUnordered() {
          let key = ObjectKey(classID: entry.classID, rowID: object.rowID)
          body(key, placement(ofMatching: object, key))
        }
      } catch { throw entry.queryError(error) }
    }
  }

  /// Visits all rows of the classes, in no particular order.
  func forEachRow(_ body: (ObjectKey) throws(StoreError) -> Void) throws(StoreError) {
    for entry in entries {
      store.settleRelationships()
      var cursor = RowCursor(store, entry, keepsObjects: false)
      while let object = try cursor.next() {
        try body(ObjectKey(classID: entry.classID, rowID: object.rowID))
      }
    }
  }
}

/// The place of a row in the order of a query.
struct Placement {
  let rank: RowRank
  /// The length of the key's prefix that identifies the section, in bytes.
  let sectionLength: Int
  let section: Any?
}

extension RegisteredClass {
  /// Whether the class has an index with a property, which then depends only on the object.
  func hasIndex(of property: AnyKeyPath) -> Bool {
    let property = property.inherited(by: type)
    return indexes.contains { $0.declaration.properties.contains(property) }
  }
}
