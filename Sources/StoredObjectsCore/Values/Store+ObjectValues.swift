public import StoreEngine

extension StoredObject {
  /// Returns the object as values by property name, with its unsaved changes.
  ///
  /// Complexity: linear in the sizes of the object and of those nested in it.
  ///
  /// - Parameter depth: The number of levels to which referenced objects are nested in the place of
  ///   their IDs. An object can be nested more than once, with everything that it refers to.
  /// - Returns: The object's ID and its values.
  /// - Throws: ``/StoreEngine/StoreError`` with `notEncodable` for an object that is in no store,
  ///   or refers to one that is not; any error of reading the objects.
  public final func value(depth: Int = 0) throws(StoreError) -> ObjectValue {
    guard let registration, let store = registration.store else {
      throw StoreError(
        .notEncodable, "The object is in no store: insert it first.",
        at: .init(className: type(of: self).storedName))
    }
    return try store.value(of: self, registration, depth: depth)
  }
}

extension Store {
  func value(
    of object: StoredObject, _ entry: RegisteredClass, depth: Int
  ) throws(StoreError) -> ObjectValue {
    let names = ClassNames(classes.lazy.map { ($0.name, $0.classID) })
    if depth <= 0 { return try value(of: object, entry, referenceTexts(names)) }
    return try value(
      of: object, entry, NestedReferences(store: self, names: names, depth: depth))
  }

  func value(
    of object: StoredObject, _ entry: RegisteredClass, _ references: some ReferenceReading,
    externals: ExternalPlacement = .inline
  ) throws(StoreError) -> ObjectValue {
    settleRelationships(of: object)
    try object.fetchContent()
    return try withScratchBuffer { buffer throws(StoreError) in
      // The buffer still has the bytes of the previous record.
      buffer.removeAll()
      do {
        // Bytes that only their type can read contain such values inline.
        let externals = entry.coding?.hasOpaqueValues == false ? externals : .inline
        try writeContent(of: object, entry, to: &buffer, externals)
        var value = ObjectValue(className: entry.name, rowID: object.rowID)
        if let coding = entry.coding {
          value.values = try coding.values(from: &buffer, references)
        } else {
          value.bytes = StoredValue.base64(buffer.bytes).text
          value.layout = entry.version
        }
        return value
      } catch {
        throw .wrapping(error, .notEncodable, at: entry.location(object.rowID))
      }
    }
  }

  func referenceTexts(_ names: ClassNames) -> ReferenceTexts {
    ReferenceTexts(names: names, externals: ExternalTexts(backend.externalStorage))
  }

  /// Writes a content without storing anything for it.
  private func writeContent(
    of object: StoredObject, _ entry: RegisteredClass, to buffer: inout DataBuffer,
    _ placement: ExternalPlacement
  ) throws {
    let outer = isEncoding
    isEncoding = true
    let mayHaveExternals = entry.hasExternals || entry.coding == nil
    let externals = mayHaveExternals ? externalsIfKept() : externals
    externals?.placement = placement
    defer {
      isEncoding = outer
      externals?.placement = .stored
    }
    try object.writeContent(to: &buffer)
    if let failure = buffer.failure { throw failure }
    buffer.rewind()
  }
}

extension StoredValue {
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}

/// Reads references as the objects that they refer to, to a number of levels.
private struct NestedReferences: ReferenceReading {
  let store: Store
  let names: ClassNames
  let depth: Int

  func className(of classID: UInt8) -> String? { names.name(of: classID) }
  func text(of external: ExternalReference) throws -> String {
    try ExternalTexts(store.backend.externalStorage).text(of: external)
  }

  func value(of className: String, row: UInt32) throws -> StoredValue {
    guard let classID = names.id(of: className),
      let entry = store.registration(classID: classID),
      let object = try store.object(entry, rowID: row)
    else { return .string("\(className)/\(row)") }
    if depth == 1 {
      return try store.value(of: object, entry, store.referenceTexts(names)).storedValue
    }
    let inner = NestedReferences(store: store, names: names, depth: depth - 1)
    return try store.value(of: object, entry, inner).storedValue
  }
}
