import Locks
import StoreEngine
import Synchronization

/// Where the objects of a class hold others.
///
/// It is read from the description of the class that the runtime has, so that it covers `@Stored`,
/// ``Content`` and plain properties alike.
///
/// `@unchecked Sendable`: nothing in it changes, and the types in it are only asked for their
/// conformances to a protocol of this module, which are no actor's.
final class ReferenceLayout: @unchecked Sendable {
  /// The properties that are a reference to one object.
  let references: [Reference]
  /// The properties that hold objects otherwise.
  let holders: [Holder]
  /// Properties of types that have no empty form: enumerations, closures and the like.
  let others: [Other]
  /// An object that has the defaults of the others; nil without any.
  let prototype: Prototype?

  struct Reference {
    let offset: Int
    /// Whether it may be nil while the object lives.
    let isOptional: Bool
    /// Whether it is what ``Content`` holds.
    let isContent: Bool
  }

  struct Holder {
    let offset: Int
    let isContent: Bool
    let type: any ReferenceHolder.Type
  }

  struct Other {
    let offset: Int
    let type: Any.Type
  }

  fileprivate init?(_ type: StoredObject.Type) {
    var holdings = HoldingProperties()
    // Those of the base class come first; what they hold is no object.
    let inherited = RuntimeProperty.all(of: StoredObject.self).count
    for property in RuntimeProperty.all(of: type).dropFirst(inherited)
    where property.isStrong && property.isVariable {
      holdings.add(property.type, at: property.offset)
    }
    if holdings.isEmpty { return nil }
    (references, holders, others) = (holdings.references, holdings.holders, holdings.others)
    prototype = others.isEmpty ? nil : Prototype(type)
  }

  /// An object whose values are copied, and which is never freed.
  ///
  /// `@unchecked Sendable`: it is made before any other thread sees it, and nobody changes it.
  final class Prototype: @unchecked Sendable {
    let object: StoredObject
    init(_ type: StoredObject.Type) { object = type.init() }
  }
}

// MARK: - Of classes

extension ReferenceLayout {
  /// The layout of a class; nil for one whose objects hold no others.
  ///
  /// Complexity: linear in the number of classes of the program, once the class has been seen.
  static func of(_ type: StoredObject.Type) -> ReferenceLayout? {
    let id = ObjectIdentifier(type)
    if lastWithout.load(ordering: .relaxed) == UInt(bitPattern: id) { return nil }
    if let found = known.withLock({ $0.first { $0.type == id } }) { return found.layout }
    // Outside of the lock, since it may make an object of the class.
    let layout = ReferenceLayout(type)
    known.withLock { $0.append(Known(type: id, layout: layout)) }
    if layout == nil { lastWithout.store(UInt(bitPattern: id), ordering: .relaxed) }
    return layout
  }

  /// No dictionary: see `DeclaredLayout`.
  private static let known = Locked<[Known]>([])

  private struct Known {
    let type: ObjectIdentifier
    let layout: ReferenceLayout?
  }

  /// The class that was last found to hold nothing: most objects that are in no store come in
  /// series.
  private static let lastWithout = Atomic<UInt>(0)
}

/// Collects the places of a type that hold objects.
private struct HoldingProperties {
  var references: [ReferenceLayout.Reference] = []
  var holders: [ReferenceLayout.Holder] = []
  var others: [ReferenceLayout.Other] = []

  var isEmpty: Bool { references.isEmpty && holders.isEmpty && others.isEmpty }

  mutating func add(_ type: Any.Type, at offset: Int, isContent: Bool = false) {
    guard canHoldObjects(type) else { return }
    if type is AnyClass {
      return references.append(.init(offset: offset, isOptional: false, isContent: isContent))
    }
    if let holder = type as? any ReferenceHolder.Type {
      guard holder.referredClass == nil else {
        return references.append(.init(offset: offset, isOptional: true, isContent: isContent))
      }
      return holders.append(.init(offset: offset, isContent: isContent, type: holder))
    }
    let properties = RuntimeProperty.all(of: type)
    if properties.isEmpty { return others.append(.init(offset: offset, type: type)) }
    let isContent = isContent || type is any ContentStorage.Type
    for property in properties where property.isStrong {
      add(property.type, at: offset + property.offset, isContent: isContent)
    }
  }
}

/// A ``Content`` of any value.
private protocol ContentStorage {}
extension Content: ContentStorage {}
