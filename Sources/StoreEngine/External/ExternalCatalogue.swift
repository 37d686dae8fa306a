import Files

/// The list of external values and of the rows that refer to them.
///
/// It is an ordered table, which is committed together with the records:
///
///     0 | identifier (16) | class ID | row ID (4)   -->  size (8), checksum (4)
///     1 | class ID | row ID (4) | identifier (16)   -->  nothing
///
/// Class ID 255 is no class: row 0 of it is one that nobody knows, and any other one the number of a
/// commit, whose entry in the history has the value.
public struct ExternalCatalogue {
  /// The name of the table.
  public static let table = OrderedTableName("ExternalValues", kind: .data)

  /// A row that refers to values.
  package struct Owner: Hashable, Sendable {
    package let classID: UInt8
    package let rowID: UInt32

    package init(_ classID: UInt8, _ rowID: UInt32) {
      (self.classID, self.rowID) = (classID, rowID)
    }

    /// The owner of values that a salvage found and the list did not contain; no class has this ID.
    static let unknown = Owner(.max, 0)

    /// The owner of a value while the history has the entry of the commit that removed its reference.
    static func history(_ number: UInt64) -> Owner {
      Owner(.max, max(UInt32(truncatingIfNeeded: number), 1))
    }

    /// Whether the owner is a commit of the history.
    package var isHistory: Bool { classID == .max && rowID != 0 }

    fileprivate var key: [UInt8] {
      var bytes = [classID]
      bytes.append(bigEndian: rowID)
      return bytes
    }

    fileprivate init(key: ArraySlice<UInt8>) {
      classID = key.first ?? 0
      rowID = key.dropFirst().reduce(0) { $0 << 8 | UInt32($1) }
    }
  }

  private static let byValue: UInt8 = 0
  private static let byOwner: UInt8 = 1
  private static let ownerSize = 5

  private let backend: any StoreBackend
  private let id: OrderedTableID

  /// Opens the table on a backend.
  ///
  /// - Throws: ``StoreError`` with `closed`.
  package init(_ backend: any StoreBackend) throws(StoreError) {
    (self.backend, id) = (backend, try backend.orderedTable(Self.table))
  }

  /// Opens the table on a backend; nil if it does not exist.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  package static func ifUsed(in backend: any StoreBackend) throws(StoreError) -> Self? {
    do {
      guard backend.externalStorage != nil, try backend.orderedTableNames().contains(table) else {
        return nil
      }
      return try ExternalCatalogue(backend)
    } catch { throw .wrapping(error, .ioError, at: .init(path: backend.location)) }
  }

  // MARK: Reading

  /// Returns the values that a row refers to.
  package func values(of owner: Owner) throws(StoreError) -> [ExternalID] {
    var values: [ExternalID] = []
    let range = KeyRange.prefix([Self.byOwner] + owner.key)
    _ = try backend.scanKeys(of: id, range, isReversed: false) { key, _ in
      let bytes = [UInt8](copying: key)
      if let value = ExternalID(bytes: bytes.dropFirst(1 + Self.ownerSize)) { values.append(value) }
      return .next
    }
    return values
  }

  /// Returns the reference that rows, or the history, have to a value; nil if none has.
  package func reference(to value: ExternalID) throws(StoreError) -> ExternalReference? {
    var found: ExternalReference?
    let range = KeyRange.prefix([Self.byValue] + value.bytes)
    _ = try backend.scanKeys(of: id, range, isReversed: false) { (key, value) throws(StoreError) in
      found = try Self.entry([UInt8](copying: key), [UInt8](copying: value), backend.location).0
      return .pause
    }
    return found
  }

  /// Whether a row refers to a value.
  package func isReferenced(_ value: ExternalID) throws(StoreError) -> Bool {
    try !backend.scanKeys(of: id, .prefix([Self.byValue] + value.bytes), isReversed: false) {
      _, _ in .pause
    }
  }

  /// Calls a closure with each value and each row that refers to it, grouped by value.
  package func forEach(_ body: (ExternalReference, Owner) throws(StoreError) -> Void)
    throws(StoreError)
  {
    var position: [UInt8]? = [Self.byValue]
    while let start = position {
      position = nil
      var entries: [(ExternalReference, Owner)] = []
      let range = KeyRange(from: start, to: [Self.byOwner])
      _ = try backend.scanKeys(of: id, range, isReversed: false) {
        (key, value) throws(StoreError) in
        let key = [UInt8](copying: key)
        entries.append(try Self.entry(key, [UInt8](copying: value), backend.location))
        if entries.count < 4096 { return .next }
        position = key + [0]
        return .pause
      }
      for (reference, owner) in entries { try body(reference, owner) }
    }
  }

  /// Returns the value and the row of a key of the first kind; nil for other keys.
  package static func listed(inKey key: [UInt8]) -> (value: ExternalID, owner: Owner)? {
    value(ofKey: key).map { ($0, Owner(key: key[(1 + ExternalID.byteCount)...])) }
  }

  private static func entry(
    _ key: [UInt8], _ value: [UInt8], _ path: String
  ) throws(StoreError) -> (ExternalReference, Owner) {
    let end = 1 + ExternalID.byteCount
    var buffer = DataBuffer(value)
    guard key.count == end + ownerSize, let id = ExternalID(bytes: key[1..<end]),
      let count = try? buffer.readUInt64(), let checksum = try? buffer.readUInt32(),
      count <= UInt64(ExternalFileFormat.maximumByteCount), buffer.remainingCount == 0
    else {
      throw StoreError(
        .damaged, "The list of external values is damaged.",
        at: .init(path: path, className: table.fileName))
    }
    return (
      ExternalReference(id: id, byteCount: Int(count), checksum: checksum), Owner(key: key[end...])
    )
  }

  // MARK: Salvaging

  /// Returns the value of a key in the list; nil for an invalid key, or one of the second kind.
  package static func value(ofKey key: [UInt8]) -> ExternalID? {
    guard key.first == byValue, key.count == 1 + ExternalID.byteCount + ownerSize else {
      return nil
    }
    return ExternalID(bytes: key[1...ExternalID.byteCount])
  }

  /// Returns the entry for a reference whose row is unknown.
  static func unknownEntry(_ reference: ExternalReference) -> (key: [UInt8], value: [UInt8]) {
    ([byValue] + reference.id.bytes + Owner.unknown.key, size(of: reference))
  }

  private static func size(of reference: ExternalReference) -> [UInt8] {
    var value = DataBuffer()
    value.write(UInt64(reference.byteCount))
    value.write(reference.checksum)
    return value.bytes
  }

  // MARK: Changing

  /// Adds to a change set that a row refers to a value.
  package func add(
    _ reference: ExternalReference, of owner: Owner, to changes: inout ChangeSet
  ) {
    let key = reference.id.bytes
    changes.set([Self.byValue] + key + owner.key, to: Self.size(of: reference), in: id)
    changes.set([Self.byOwner] + owner.key + key, to: [], in: id)
  }

  /// The key under which the history keeps a value.
  static func historyKey(_ value: ExternalID, _ number: UInt64) -> [UInt8] {
    [byValue] + value.bytes + Owner.history(number).key
  }

  /// Adds to a change set that a row no longer refers to a value.
  package func remove(_ value: ExternalID, of owner: Owner, from changes: inout ChangeSet) {
    changes.set([Self.byValue] + value.bytes + owner.key, to: nil, in: id)
    changes.set([Self.byOwner] + owner.key + value.bytes, to: nil, in: id)
  }
}
