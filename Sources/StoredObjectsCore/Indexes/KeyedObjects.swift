import StoreEngine

/// New objects, of which each has one key in each index of its class.
///
/// `@unchecked Sendable`: who gives them to a second thread waits for it before any object changes,
/// and does so only with classes that let themselves be coded on any thread.
struct KeyedObjects: @unchecked Sendable {
  let objects: [StoredObject]
  /// Append the key of an object, one for each index.
  let writers: [(StoredObject, inout IndexKey) -> Void]

  /// Keys one behind the other, and where each is, for one index after the other.
  struct Keys: Sendable {
    var bytes: [UInt8]
    var changes: [[ChangeSet.KeyChange]]
  }

  /// The keys of some of the objects, as the tables have them.
  func keys(_ part: Range<Int>) -> Keys {
    var key = IndexKey()
    key.bytes.reserveCapacity(20 * part.count * writers.count)
    let changes = writers.map { write in
      var changes: [ChangeSet.KeyChange] = []
      changes.reserveCapacity(part.count)
      for object in objects[part] {
        let start = key.bytes.count
        key.bytes.append(RegisteredIndex.mark)
        write(object, &key)
        key.write(object.rowID)
        changes.append(.init(putting: start, keyCount: key.bytes.count - start, valueCount: 0))
      }
      return changes
    }
    return Keys(bytes: key.bytes, changes: changes)
  }
}
