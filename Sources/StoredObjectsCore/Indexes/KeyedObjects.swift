import StoreEngine

/// New objects, each with exactly one key in each index of its class.
///
/// `@unchecked Sendable`: the second thread is joined before any object changes. It is only used
/// for classes that can be coded on any thread.
struct KeyedObjects: @unchecked Sendable {
  let objects: [StoredObject]
  /// Functions that append the key of an object, one for each index.
  let writers: [(StoredObject, inout IndexKey) -> Void]

  /// Concatenated keys with their ranges, index by index.
  struct Keys: Sendable {
    var bytes: [UInt8]
    var changes: [[ChangeSet.KeyChange]]
  }

  /// Returns the keys of some of the objects, as the tables contain them.
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
