import StoreEngine

/// A class as a store of a program would save it.
package struct ClassDeclaration: Sendable {
  /// The stored name.
  package let name: String
  /// The metadata row, with the class ID of that store.
  package let metadata: ClassMetadata
  /// The named buffer with the layouts, with its checksum.
  package let layouts: [UInt8]
  /// Whether records may refer to values outside of them.
  package let hasExternals: Bool
}

extension Store {
  /// The declarations of the registered classes.
  package var classDeclarations: [ClassDeclaration] {
    classes.map { entry in
      var metadata =
        entry.shared.metadata
        ?? ClassMetadata(
          classVersion: entry.version, classID: entry.classID, salt: .random(), flags: entry.format)
      metadata.classVersion = max(metadata.classVersion, entry.version)
      metadata.flags?.insert(.layouts)
      return ClassDeclaration(
        name: entry.name, metadata: metadata,
        layouts: LayoutFormat.sealed(entry.layouts.all, of: entry.name),
        hasExternals: entry.hasExternals)
    }
  }
}

extension StoreBackend {
  /// Returns the class IDs that no new class gets.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`.
  package func takenClassIDs() throws(StoreError) -> Set<UInt8> {
    var taken = Set(try savedMigrations().retired.keys)
    for name in try tableNames() {
      if let metadata = try classMetadata(of: name) { taken.insert(metadata.classID) }
    }
    return taken
  }

  /// Compares the layouts of a class that someone else has with those of the store.
  ///
  /// - Parameters:
  ///   - offered: The other's named buffer with the layouts, with its checksum.
  ///   - className: The class.
  /// - Returns: The buffer that the store needs in place of its own; nil if its own has all of them.
  /// - Throws: ``/StoreEngine/StoreError`` with `changedLayout` if both sides have given a number to
  ///   different layouts, `damaged`, `ioError` or `closed`.
  package func layouts(
    extendedBy offered: [UInt8], of className: String
  ) throws(StoreError) -> [UInt8]? {
    let own = try savedLayouts(of: className)
    let others = try LayoutFormat.read(offered, of: className, in: location)
    for (mine, other) in zip(own, others)
    where mine.number != other.number || !mine.form.isSame(as: other.form) {
      throw StoreError(
        .changedLayout,
        """
        Two programs have given layout \(mine.number) of the class different properties. Let one of \
        them synchronize before the other one saves objects of the class.
        """,
        at: .init(path: location, className: className))
    }
    return others.count > own.count ? offered : nil
  }
}
