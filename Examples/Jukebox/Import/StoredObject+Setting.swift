import StoredObjects

/// So that key paths of the object's own class can be used.
protocol Settable: StoredObject {}

extension Song: Settable {}
extension Playlist: Settable {}

extension Settable {
  /// Sets a property if the value differs, and returns whether it did.
  func set<Value: Equatable>(_ property: ReferenceWritableKeyPath<Self, Value>, _ value: Value)
    -> Bool
  {
    guard self[keyPath: property] != value else { return false }
    self[keyPath: property] = value
    return true
  }
}
