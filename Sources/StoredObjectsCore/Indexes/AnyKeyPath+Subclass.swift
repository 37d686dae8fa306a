import StoreEngine
// The standard library function that Observation uses for subclasses.
@_spi(ObservableRerootKeyPath) import Swift

extension AnyKeyPath {
  /// Returns the same property as a key path of a subclass, which does not equal the superclass's.
  func inherited(by type: StoredObject.Type) -> AnyKeyPath {
    func isBelow<Root>(_ root: Root.Type) -> Bool { type is Root.Type }
    let root = Swift.type(of: self).rootType
    if root == type || !_openExistential(root, do: isBelow) { return self }
    return type.reroot(self)
  }
}

extension StoredObject {
  /// Converts a key path to this class.
  ///
  /// Not by opening the class as an existential: the optimizer of Swift 6.3 mistakes it for
  /// `StoredObject` itself.
  fileprivate class func reroot(_ path: AnyKeyPath) -> AnyKeyPath {
    _rerootKeyPath(path, to: Self.self)
  }
}
