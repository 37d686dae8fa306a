import Modeling
import RecordBrowsing
import StoredObjectsCore

/// The classes of a store with their saved layouts.
struct StoreSchema {
  let path: String
  /// The classes in the order of class IDs.
  let classes: [ClassSchema]

  /// Whether a class could not be read.
  var hasDamage: Bool { classes.contains { $0.damage != nil } }

  init(_ backend: any StoreBackend) throws {
    path = backend.location
    classes = try backend.tableNames().map { try ClassSchema($0, backend) }
      .sorted { ($0.classID ?? .max, $0.name) < ($1.classID ?? .max, $1.name) }
  }
}

extension StoreSchema {
  /// The newest layouts as a model.
  var design: ModelDesign {
    ModelDesign(
      classes.map { known in
        DesignedClass(
          storedName: known.name, version: known.newest?.classVersion ?? 0,
          properties: known.properties.map(DesignedProperty.init), note: known.note)
      })
  }

  /// The enumerations of the newest layouts, each once, in order of appearance.
  var enumerations: [StoredEnumeration] {
    var known: Set<StoredEnumeration> = []
    return classes.flatMap(\.properties).flatMap(\.type.parts).compactMap { type in
      guard case .enumeration(let enumeration) = type else { return nil }
      return known.insert(enumeration).inserted ? enumeration : nil
    }
  }
}

/// A class of a store and its layouts.
struct ClassSchema {
  let name: String
  /// The class ID; nil if the metadata row is damaged.
  let classID: UInt8?
  /// The number of objects.
  let objects: Int
  /// The layouts, the oldest first; none for a class from before stores kept layouts.
  let layouts: [SavedLayout]
  /// The reason why the metadata row or the layouts can't be read.
  let damage: String?

  var newest: SavedLayout? { layouts.last }

  /// The properties of the newest layout.
  var properties: [SavedLayout.SavedProperty] { newest?.browsedProperties ?? [] }

  /// The reason why the properties are incomplete.
  var note: String? {
    if let damage { return damage }
    guard let newest else {
      return """
        no layout: last saved by an earlier release or by BNRPersistence, so the properties are not \
        known
        """
    }
    guard newest.isOfValues else { return nil }
    return "declares no properties: these are the kinds of values of a new object, in order"
  }
}

extension ClassSchema {
  init(_ name: String, _ backend: any StoreBackend) throws {
    let info = try StoreInfo.ClassInfo(name, backend)
    var (layouts, damage) = ([SavedLayout](), info.damage)
    do {
      layouts = try backend.savedLayouts(of: name)
    } catch {
      guard error.code == .damaged else { throw error }
      damage = damage ?? error.message
    }
    self.init(
      name: name, classID: info.classID, objects: info.objects, layouts: layouts, damage: damage)
  }
}
