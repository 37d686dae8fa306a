import Locks
import StoreEngine
import Synchronization

/// The properties through which objects of a class hold other objects.
///
/// The layout is read from the runtime's description of the class, so that it covers
/// the properties of `@Stored` classes, of ``Content``, and plain ones.
///
/// `@unchecked Sendable`: it is immutable, and its types are only checked for conformances to a
/// protocol of this module, which are not isolated to an actor.
final class ReferenceLayout: @unchecked Sendable {
  /// The properties that are a reference to one object.
  let references: [Reference]
  /// The properties that hold objects in another way.
  let holders: [Holder]
  /// The properties of types that can't be emptied, such as enumerations and closures.
  let others: [Other]
  /// An object with the defaults of the `others`; nil if there are none.
  let prototype: Prototype?

  struct Reference {
    let offset: Int
    /// Whether it can be nil while the object exists.
    let isOptional: Bool
    /// Whether it is in a ``Content`` property.
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
    // The properties of the base class come first; they hold no stored objects.
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
  /// `@unchecked Sendable`: it is made before any other thread sees it, and is not changed
  /// afterwards.
  final class Prototype: @unchecked Sendable {
    let object: StoredObject
    init(_ type: StoredObject.Type) { object = type.init() }
  }
}

// MARK: - Layouts of classes

extension ReferenceLayout {
  /// Returns the layout of a class; nil if its objects hold no others.
  ///
  /// Complexity: linear in the number of classes of the program, once the class has been seen.
  static func of(_ type: StoredObject.Type) -> ReferenceLayout? {
    let id = ObjectIdentifier(type)
    if lastWithout.load(ordering: .relaxed) == UInt(bitPattern: id) { return nil }
    if let found = known.withLock({ $0.first { $0.type == id } }) { return found.layout }
    // Outside of the lock, because it may create an object of the class.
    let layout = ReferenceLayout(type)
    known.withLock { $0.append(Known(type: id, layout: layout)) }
    if layout == nil { lastWithout.store(UInt(bitPattern: id), ordering: .relaxed) }
    return layout
  }

  /// Neither a dictionary nor an array of structures: see `DeclaredLayout`.
  private static let known = Locked<[Known]>([])

  private final class Known: Sendable {
    let type: ObjectIdentifier
    let layout: ReferenceLayout?

    init(type: ObjectIdentifier, layout: ReferenceLayout?) {
      (self.type, self.layout) = (type, layout)
    }
  }

  /// The last class found to hold nothing: objects in no store tend to come in runs of one class.
  private static let lastWithout = Atomic<UInt>(0)
}

/// Collects the properties of a type that hold objects.
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

/// A ``Content`` of any value type.
private protocol ContentStorage {}
extension Content: ContentStorage {}
