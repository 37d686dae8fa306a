import StoreEngine

/// A stored property of a class or a structure, as the runtime describes it to `Mirror`.
struct RuntimeProperty {
  /// Where the value is, counted from the beginning of the object or of the structure.
  let offset: Int
  let type: Any.Type
  /// False for a weak, unowned or unmanaged reference.
  let isStrong: Bool
  /// False for a `let`.
  let isVariable: Bool

  /// The stored properties of a type, those of its superclasses first.
  ///
  /// None for a type that is neither a class, a structure nor a tuple, and for one that was
  /// compiled without reflection metadata.
  static func all(of type: Any.Type) -> [RuntimeProperty] {
    // Of an existential type the runtime wants to see a value.
    guard type is AnyClass || isStructureOrTuple(type) else { return [] }
    return (0..<propertyCount(type)).map { RuntimeProperty(type, $0) }
  }

  /// A type's description begins with a number for its kind.
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

// The standard library declares these functions of its runtime just so, for `Mirror`, and exports
// them. `Mirror` itself copies values and does not say where they are; the interface for tools,
// `_forEachField`, does not tell a weak reference from a strong one.

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
