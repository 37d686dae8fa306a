import StoreEngine
// What Observation has Swift's own library do for subclasses.
@_spi(ObservableRerootKeyPath) import Swift

extension AnyKeyPath {
  /// The same property as a key path of a subclass, which is not equal to that of the superclass.
  func inherited(by type: StoredObject.Type) -> AnyKeyPath {
    func isBelow<Root>(_ root: Root.Type) -> Bool { type is Root.Type }
    func reroot<Root>(_ root: Root.Type) -> AnyKeyPath { _rerootKeyPath(self, to: root) }
    let root = Swift.type(of: self).rootType
    if root == type || !_openExistential(root, do: isBelow) { return self }
    return _openExistential(type as Any.Type, do: reroot)
  }
}
