import StoreEngine
// What Observation has Swift's own library do for subclasses.
@_spi(ObservableRerootKeyPath) import Swift

extension AnyKeyPath {
  /// The same property as a key path of a subclass, which is not equal to that of the superclass.
  func inherited(by type: StoredObject.Type) -> AnyKeyPath {
    func isBelow<Root>(_ root: Root.Type) -> Bool { type is Root.Type }
    let root = Swift.type(of: self).rootType
    if root == type || !_openExistential(root, do: isBelow) { return self }
    return type.reroot(self)
  }
}

extension StoredObject {
  /// Not by opening the class as an existential: the optimizer of Swift 6.3 takes it for
  /// `StoredObject` itself.
  fileprivate class func reroot(_ path: AnyKeyPath) -> AnyKeyPath {
    _rerootKeyPath(path, to: Self.self)
  }
}
