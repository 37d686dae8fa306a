import Files

/// How a salvage looks into what is sealed: stored bytes are brought over as they are, and opened
/// only to be judged.
///
/// In a store that is not encrypted, stored bytes are plain.
package struct SalvageSeal: Sendable {
  let sealing: Sealing?

  /// Whether anything is sealed.
  package var isEncrypted: Bool { sealing != nil }

  /// The name of a table or buffer, as its users know it; nil when this store has not sealed it.
  package func name(_ stored: String) -> String? {
    guard let sealing, stored != StoreDirectory.buffers else { return stored }
    return sealing.name(stored)
  }

  /// A name for reports.
  package func title(_ stored: String) -> String { name(stored) ?? stored }

  /// The records of a table.
  package func table(_ stored: String) -> Table {
    Table(sealing: sealing, scope: sealing?.seal.scope(of: stored))
  }

  /// What pages of an ordered table are opened and sealed with; nil where they are plain.
  func pageCodec(of name: OrderedTableName) -> (any OrderedPageCodec)? {
    sealing.map { SealedPages($0.seal, fileName: name.fileName) }
  }

  /// The content of a buffer; nil when it is not what was saved under its name.
  package func opened(buffer key: String, _ bytes: [UInt8]) -> [UInt8]? {
    guard let name = name(key) else { return nil }
    guard let sealing else { return NamedBufferChecksum.opened(bytes, name: name) }
    var plain: [UInt8] = []
    let location = sealing.location(ofBuffer: key)
    guard bytes.lend({ sealing.seal.open($0, at: location, to: &plain) }) else { return nil }
    return NamedBufferChecksum.opened(plain, name: name)
  }

  /// The records of one table.
  package struct Table: Sendable {
    fileprivate let sealing: Sealing?
    fileprivate let scope: SealedLocation.Scope?

    /// Whether its records are sealed.
    package var isSealed: Bool { sealing != nil }

    /// A record; nil when it is not what was sealed for this row.
    package func opened(_ rowID: UInt32, _ bytes: [UInt8]) -> [UInt8]? {
      guard let sealing, let scope else { return bytes }
      var plain: [UInt8] = []
      let location = sealing.location(rowID, in: scope)
      return bytes.lend { sealing.seal.open($0, at: location, to: &plain) } ? plain : nil
    }

    /// A record as it is stored.
    ///
    /// - Throws: ``StoreError`` when there is no randomness to be had.
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
  /// The same report, by the names that users know.
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
