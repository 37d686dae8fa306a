import StoreEngine

/// A stored property of a class or a structure, as the runtime describes it for `Mirror`.
struct RuntimeProperty {
  /// The offset of the value from the start of the object or the structure.
  let offset: Int
  let type: Any.Type
  /// False for a weak, unowned or unmanaged reference.
  let isStrong: Bool
  /// False for a `let`.
  let isVariable: Bool

  /// Returns the stored properties of a type, those of its superclasses first.
  ///
  /// Empty for a type that is not a class, a structure or a tuple, and for a type that was compiled
  /// without reflection metadata.
  static func all(of type: Any.Type) -> [RuntimeProperty] {
    // For an existential type, the runtime needs a value.
    guard type is AnyClass || isStructureOrTuple(type) else { return [] }
    return (0..<propertyCount(type)).map { RuntimeProperty(type, $0) }
  }

  /// Whether the type is a structure or a tuple, by the kind with which its metadata begins.
  private static func isStructureOrTuple(_ type: Any.Type) -> Bool {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let kind = unsafe UnsafePointer<UInt>(bitPattern: address)?.pointee
    return kind == structureKind || kind == tupleKind
  }

  private static let structureKind: UInt = 0x200
  private static let tupleKind: UInt = 0x301

  private init(_ owner: Any.Type, _ index: Int) {
    var description = unsafe PropertyDescription()
    type = unsafe propertyType(owner, index: index, description: &description)
    offset = propertyOffset(owner, index: index)
    (isStrong, isVariable) = unsafe (description.isStrong, description.isVariable)
    if let name = unsafe description.name { unsafe description.freeName?(name) }
  }
}

// The standard library declares these runtime functions in the same way for `Mirror`, and exports
// them. `Mirror` itself copies values and has no offsets; `_forEachField`, the interface for tools,
// does not distinguish weak references from strong ones.

@unsafe private struct PropertyDescription {
  var name: UnsafePointer<CChar>?
  var freeName: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
  var isStrong = false
  var isVariable = false
}

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func propertyCount(_ type: Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func propertyOffset(_ type: Any.Type, index: Int) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func propertyType(
  _ type: Any.Type, index: Int, description: UnsafeMutablePointer<PropertyDescription>
) -> Any.Type
