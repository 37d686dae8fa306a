import Files

/// Access to sealed data for a salvage, which copies sealed bytes and opens them only to verify.
///
/// In a store that is not encrypted, the stored bytes are plain.
package struct SalvageSeal: Sendable {
  let sealing: Sealing?

  /// Whether the store is encrypted.
  package var isEncrypted: Bool { sealing != nil }

  /// Returns the user-visible name of a table or buffer; nil if this store did not seal it.
  package func name(_ stored: String) -> String? {
    guard let sealing, stored != StoreDirectory.buffers else { return stored }
    return sealing.name(stored)
  }

  /// Returns a name for reports.
  package func title(_ stored: String) -> String { name(stored) ?? stored }

  /// Returns access to the records of a table.
  package func table(_ stored: String) -> Table {
    Table(sealing: sealing, scope: sealing?.seal.scope(of: stored))
  }

  /// Returns the codec for the pages of an ordered table; nil if they are plain.
  func pageCodec(of name: OrderedTableName) -> (any OrderedPageCodec)? {
    pageCodec(ofFile: name.fileName)
  }

  /// Returns the codec for the pages of a file of an ordered table; nil if they are plain.
  func pageCodec(ofFile fileName: String) -> (any OrderedPageCodec)? {
    sealing.map { SealedPages($0.seal, fileName: fileName) }
  }

  /// Returns the content of a buffer; nil if it is not what was saved under its name.
  package func opened(buffer key: String, _ bytes: [UInt8]) -> [UInt8]? {
    guard let name = name(key) else { return nil }
    guard let sealing else { return NamedBufferChecksum.opened(bytes, name: name) }
    var plain: [UInt8] = []
    let location = sealing.location(ofBuffer: key)
    guard bytes.lend({ sealing.seal.open($0, at: location, to: &plain) }) else { return nil }
    return NamedBufferChecksum.opened(plain, name: name)
  }

  /// Access to the records of one table.
  package struct Table: Sendable {
    fileprivate let sealing: Sealing?
    fileprivate let scope: SealedLocation.Scope?

    /// Whether the records are sealed.
    package var isSealed: Bool { sealing != nil }

    /// Returns the content of a record; nil if it is not what was sealed for this row.
    package func opened(_ rowID: UInt32, _ bytes: [UInt8]) -> [UInt8]? {
      guard let sealing, let scope else { return bytes }
      var plain: [UInt8] = []
      let location = sealing.location(rowID, in: scope)
      return bytes.lend { sealing.seal.open($0, at: location, to: &plain) } ? plain : nil
    }

    /// Returns the stored form of a record.
    ///
    /// - Throws: ``StoreError`` if the system has no random numbers.
    package func stored(_ rowID: UInt32, _ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
      guard let sealing, let scope else { return bytes }
      var sealed: [UInt8] = []
      try bytes.lend { (bytes) throws(StoreError) in
        try sealing.seal.seal(bytes, at: sealing.location(rowID, in: scope), to: &sealed)
      }
      return sealed
    }
  }
}

extension SalvageReport {
  /// Returns the same report with user-visible names.
  package func named(by seal: SalvageSeal) -> SalvageReport {
    guard let sealing = seal.sealing else { return self }
    var report = self
    report.classes = classes.map { .init(name: seal.title($0.name), objectCount: $0.objectCount) }
      .sorted { $0.name < $1.name }
    report.orderedTables = orderedTables.map { table in
      let name = OrderedTableName(seal.title(table.name.name), kind: table.name.kind)
      return .init(name: name, keyCount: table.keyCount)
    }.sorted { $0.name.name < $1.name.name }
    report.renameLosses { sealing.naming($0) }
    return report
  }
}
