import Files
public import StoreEngine

/// A backend with records that BNRPersistence has encrypted, for reading and importing.
///
///     let old = try TokyoCabinetBackend(directory: "Old", configuration: .init(access: .readOnly))
///     let backend = BNREncryptedBackend(old, passphrase: phrase)
///     try BackendCopy(from: backend, to: copy).run()
///
/// - Warning: The encryption of BNRPersistence is weak, see *Encryption* in the pages of
///   `StoreEngine`. The backend never writes it: the new store seals each record with its own key.
///
/// Metadata rows and named buffers were never encrypted.
public final class BNREncryptedBackend: StoreBackend {
  /// The coordinator, which stores on this backend and on the wrapped one share.
  public var coordinator: StoreCoordinator { base.coordinator }
  private let base: any StoreBackend
  private let cipher: BNRCipher
  private let allowsPlainRecords: Bool
  private static let metadataRow: UInt32 = 1

  /// Creates a backend that decrypts records with the passphrase of the original.
  ///
  /// - Parameters:
  ///   - base: The store's own backend.
  ///   - passphrase: The `encryptionKey` of the original.
  ///   - allowsPlainRecords: Whether a record that the passphrase does not open is taken as plain,
  ///     as in the original: for stores in which some objects were saved before there was a
  ///     passphrase. A wrong passphrase is not detected then.
  public init(
    _ base: any StoreBackend, passphrase: String, allowsPlainRecords: Bool = false
  ) {
    self.base = base
    cipher = BNRCipher(passphrase: passphrase)
    self.allowsPlainRecords = allowsPlainRecords
  }

  private init(_ base: any StoreBackend, _ other: BNREncryptedBackend) {
    (self.base, cipher) = (base, other.cipher)
    allowsPlainRecords = other.allowsPlainRecords
  }

  /// Whether snapshots of the wrapped backend hold connections.
  public var snapshotsHoldConnections: Bool { base.snapshotsHoldConnections }

  /// Returns the decrypted data of the wrapped backend as of the last commit.
  ///
  /// Complexity: that of the wrapped backend's snapshot; records are decrypted when they are read.
  ///
  /// - Throws: `StoreError`, as the wrapped backend.
  public func snapshot() throws(StoreError) -> any StoreBackend {
    BNREncryptedBackend(try base.snapshot(), self)
  }

  /// The location of the records.
  public var location: String { base.location }
  /// Whether the backend is read-only, which it always is: it never writes the original's
  /// encryption.
  public var isReadOnly: Bool { true }
  /// Returns the number of a table.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: `StoreError`, as the wrapped backend.
  public func table(named name: String) throws(StoreError) -> TableID {
    try base.table(named: name)
  }
  /// Returns the names of the tables that have records.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: `StoreError`, as the wrapped backend.
  public func tableNames() throws(StoreError) -> [String] { try base.tableNames() }
  /// Returns the number of rows in a table.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: `StoreError`, as the wrapped backend.
  public func recordCount(in table: TableID) throws(StoreError) -> Int {
    try base.recordCount(in: table)
  }
  /// Returns the names of the buffers.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: `StoreError`, as the wrapped backend.
  public func bufferNames() throws(StoreError) -> [String] { try base.bufferNames() }
  /// Closes the store's own backend.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: `StoreError`, as the wrapped backend.
  public func close() throws(StoreError) { try base.close() }

  /// Calls a closure with a named buffer, unchanged.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: `StoreError`, as the wrapped backend, or an error of the closure.
  public func withNamedBuffer<Result>(
    _ name: String, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? { try base.withNamedBuffer(name, body) }

  /// Returns the number of an ordered table; the original had none.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: `StoreError`, as the wrapped backend.
  public func orderedTable(_ name: OrderedTableName) throws(StoreError) -> OrderedTableID {
    try base.orderedTable(name)
  }
  /// Returns the names of the ordered tables.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: `StoreError`, as the wrapped backend.
  public func orderedTableNames() throws(StoreError) -> [OrderedTableName] {
    try base.orderedTableNames()
  }
  /// Returns the number of keys in a range.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: `StoreError`, as the wrapped backend.
  public func keyCount(in table: OrderedTableID, _ range: KeyRange) throws(StoreError) -> Int {
    try base.keyCount(in: table, range)
  }
  /// Calls a closure with the value of a key.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: `StoreError`, as the wrapped backend, or an error of the closure.
  public func withValue<Result>(
    of key: [UInt8], in table: OrderedTableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? { try base.withValue(of: key, in: table, body) }
  /// Calls a closure with the keys and values in a range.
  ///
  /// Complexity: as the wrapped backend.
  ///
  /// - Throws: `StoreError`, as the wrapped backend, or an error of the closure.
  public func scanKeys(
    of table: OrderedTableID, _ range: KeyRange, isReversed: Bool,
    _ body: (RawSpan, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> Bool { try base.scanKeys(of: table, range, isReversed: isReversed, body) }

  /// Throws, since the backend is read-only.
  ///
  /// Complexity: constant time.
  ///
  /// - Throws: `StoreError` with `readOnly`.
  public func commit(_ changes: ChangeSet, _ request: CommitRequest) throws(StoreError) -> Commit? {
    throw StoreError(
      .readOnly, "The encryption of BNRPersistence is read-only: copy the store to a new one.",
      at: .init(path: location))
  }

  /// Calls a closure with a decrypted record.
  ///
  /// Complexity: two look-ups in the wrapped backend, one of them of the metadata row, and linear
  /// in the size of the record, which is decrypted.
  ///
  /// - Throws: `StoreError` with `wrongKey`, which names the record, if the passphrase does not
  ///   open it.
  public func withRecord<Result>(
    _ rowID: UInt32, in table: TableID, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    let metadata = try metadata(of: table)
    let record = try base.withRecord(rowID, in: table) { [UInt8](copying: $0) }
    guard let record else { return nil }
    return try opened(record, rowID, metadata).lend(body)
  }

  /// Calls a closure with the decrypted records of a table.
  ///
  /// Complexity: linear in the size of the records that are visited, each of which is decrypted;
  /// one look-up of the metadata row for each call.
  ///
  /// - Throws: The errors of ``withRecord(_:in:_:)``.
  public func scan(
    _ table: TableID, from position: ScanPosition?,
    _ body: (UInt32, RawSpan) throws(StoreError) -> ScanStep
  ) throws(StoreError) -> ScanEnd {
    let metadata = try metadata(of: table)
    return try base.scan(table, from: position) { (rowID, record) throws(StoreError) in
      try opened([UInt8](copying: record), rowID, metadata).lend { (plain) throws(StoreError) in
        try body(rowID, plain)
      }
    }
  }

  private func metadata(of table: TableID) throws(StoreError) -> ClassMetadata? {
    guard let row = try base.withRecord(Self.metadataRow, in: table, { [UInt8](copying: $0) })
    else { return nil }
    var buffer = DataBuffer(row)
    do throws(DataBufferError) {
      return try ClassMetadata(from: &buffer)
    } catch {
      throw .wrapping(error, .damaged, at: .init(path: location, rowID: Self.metadataRow))
    }
  }

  private func opened(
    _ record: [UInt8], _ rowID: UInt32, _ metadata: ClassMetadata?
  ) throws(StoreError) -> [UInt8] {
    if rowID == Self.metadataRow { return record }
    if let metadata, let plain = cipher.opened(record, metadata, rowID: rowID) { return plain }
    if allowsPlainRecords { return record }
    throw StoreError(
      .wrongKey, "The passphrase does not open this record, or it was never encrypted.",
      at: .init(path: location, rowID: rowID))
  }
}
