import Files
import FoundationEssentials
import Locks
import StoreEngine

/// Seals the data of an encrypted store for the server, and opens it.
///
///     table, buffer     its sealed name
///     record, buffer    sealed for its row, or its name
///     key               the scope of its table | key, sealed as names are: the same each time, so
///                       that the server finds it
///     value             key | value, sealed for its table and the size of the key
///     author            sealed for the token of its commit
///
/// ServerSealing+History.swift has the exceptions, which the history needs.
///
/// The server does not see the order of keys: see ``SortedKeys``.
final class ServerSealing: Sendable {
  let sealing: Sealing
  let location: String
  private let names = Locked<[String: String]>([:])
  private let scopes = Locked<[OrderedTableName: SealedLocation.Scope]>([:])

  init(_ seal: any StoreSeal, at location: String) {
    (sealing, self.location) = (Sealing(seal), location)
  }

  /// The number of bytes by which sealing enlarges a value.
  var overhead: Int { sealing.seal.overhead }

  // MARK: Names

  /// Returns the server's name for a table.
  func name(ofTable name: String) throws(StoreError) -> String {
    if let known = names.withLock({ $0[name] }) { return known }
    let sealed = try sealing.fileName(ofTable: name)
    names.withLock { $0[name] = sealed }
    return sealed
  }

  /// Returns the server's name for a buffer.
  func name(ofBuffer name: String) throws(StoreError) -> String { try sealing.key(ofBuffer: name) }

  /// Returns the name of a table or buffer from the server's name.
  func opened(_ name: String) throws(ServerFailure) -> String {
    guard let opened = sealing.name(name) else { throw ServerFailure.notAuthentic }
    return opened
  }

  // MARK: Records and buffers

  /// Opens a record.
  func open(
    _ sealed: RawSpan, _ rowID: UInt32, _ table: TableID, named name: String
  ) throws(StoreError) -> [UInt8] {
    let scope = try sealing.scope(of: table) { () throws(StoreError) in
      try self.name(ofTable: name)
    }
    var bytes: [UInt8] = []
    try sealing.open(sealed, sealing.location(rowID, in: scope), to: &bytes) {
      .init(path: location, className: name, rowID: rowID)
    }
    return bytes
  }

  /// Opens a buffer, given the server's name for it.
  func open(_ sealed: RawSpan, ofBuffer name: String) throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    try sealing.open(sealed, sealing.location(ofBuffer: name), to: &bytes) {
      .init(path: location)
    }
    return bytes
  }

  // MARK: Keys and values

  /// Returns the server's form of a key.
  func key(_ key: some Collection<UInt8>, of table: OrderedTableName) throws(StoreError) -> [UInt8]
  {
    let key = Array(key)
    if Self.isPlain(key, table) { return key }
    return try sealing.seal.sealName(Self.prefix(try scope(of: table)) + key)
  }

  /// Opens a key of the server.
  func open(_ sealed: [UInt8], of table: OrderedTableName) throws(StoreError) -> [UInt8] {
    if Self.isPlain(sealed, table) { return sealed }
    let prefix = Self.prefix(try scope(of: table))
    guard let key = sealing.seal.openName(sealed), key.starts(with: prefix) else {
      throw ServerFailure.notAuthentic.error(at: location)
    }
    return Array(key[prefix.count...])
  }

  /// Opens the value of a key.
  func open(
    _ sealed: RawSpan, ofKey key: [UInt8], in table: OrderedTableName
  ) throws(StoreError) -> [UInt8] {
    if Self.hasPlainValue(key, table) { return [UInt8](copying: sealed) }
    guard Self.isEntry(key, table) else { return try openValue(sealed, ofKey: key, in: table) }
    let form = [UInt8](copying: sealed.extracting(0..<min(1, sealed.byteCount))).first
    let rest = sealed.extracting(min(1, sealed.byteCount)..<sealed.byteCount)
    if form == Schema.EntryForm.ofSealedParts {
      return try openEntry([UInt8](copying: rest), of: key)
    }
    return try openValue(rest, ofKey: key, in: table)
  }

  private func openValue(
    _ sealed: RawSpan, ofKey key: [UInt8], in table: OrderedTableName
  ) throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(sealed.byteCount)
    let place = SealedLocation(.page, in: try scope(of: table), number: UInt64(key.count))
    try sealing.open(sealed, place, to: &bytes) { .init(path: location, className: table.name) }
    guard bytes.count >= key.count, bytes.starts(with: Self.sealedPrefix(of: key, in: table)) else {
      throw ServerFailure.notAuthentic.error(at: location)
    }
    return Array(bytes[key.count...])
  }

  private static func prefix(_ scope: SealedLocation.Scope) -> [UInt8] {
    var prefix: [UInt8] = []
    prefix.append(bigEndian: scope.high)
    prefix.append(bigEndian: scope.low)
    return prefix
  }

  private func scope(of table: OrderedTableName) throws(StoreError) -> SealedLocation.Scope {
    if let known = scopes.withLock({ $0[table] }) { return known }
    let name = OrderedTableName(try name(ofTable: table.name), kind: table.kind)
    let scope = sealing.seal.scope(of: name.fileName)
    scopes.withLock { $0[table] = scope }
    return scope
  }

  // MARK: Commits

  /// Returns the server's form of an author.
  func author(_ author: String, of token: UUID) throws(StoreError) -> [UInt8] {
    var sealed: [UInt8] = []
    try Array(author.utf8).lend { (author) throws(StoreError) in
      try sealing.seal.seal(author, at: Self.place(ofAuthor: token), to: &sealed)
    }
    return sealed
  }

  /// Opens an author of the server.
  func open(author sealed: [UInt8], of token: UUID) throws(ServerFailure) -> String {
    var author: [UInt8] = []
    let isOpen = sealed.lend {
      sealing.seal.open($0, at: Self.place(ofAuthor: token), to: &author)
    }
    guard isOpen else { throw ServerFailure.notAuthentic }
    return String(decoding: author, as: UTF8.self)
  }

  private static func place(ofAuthor token: UUID) -> SealedLocation {
    var buffer = DataBuffer()
    buffer.write(token)
    let (high, low) = buffer.bytes.lend {
      ($0.loadUInt64(at: 0, isBigEndian: true), $0.loadUInt64(at: 8, isBigEndian: true))
    }
    return SealedLocation(.batch, in: .init(high, low))
  }

  /// Returns the server's form of a change set; tables, rows, names and keys keep their order.
  func sealed(
    _ changes: ChangeSet, table: (TableID) -> String, ordered: (OrderedTableID) -> OrderedTableName
  ) throws(StoreError) -> ChangeSet {
    var records = changes
    records.ordered = []
    var sealed = try sealing.sealed(records) { (id) throws(StoreError) in
      try name(ofTable: table(id))
    }
    for change in changes.ordered where !change.isEmpty {
      let name = ordered(change.table)
      var own = ChangeSet.OrderedTableChanges(table: change.table, clearsFirst: change.clearsFirst)
      own.changes.reserveCapacity(change.changes.count)
      for key in change.changes { own.changes.append(try append(key, changes, name, to: &sealed)) }
      sealed.ordered.append(own)
    }
    return sealed
  }

  private func append(
    _ change: ChangeSet.KeyChange, _ changes: ChangeSet, _ table: OrderedTableName,
    to sealed: inout ChangeSet
  ) throws(StoreError) -> ChangeSet.KeyChange {
    let plain = changes.bytes[change.key]
    let key = try key(plain, of: table)
    let start = sealed.bytes.count
    sealed.bytes += key
    if change.isRemoval { return .init(removing: start, keyCount: key.count) }
    if Self.hasPlainValue(plain, table) {
      sealed.bytes += changes.bytes[change.value]
      return .init(putting: start, keyCount: key.count, valueCount: change.value.count)
    }
    if Self.isEntry(plain, table) { sealed.bytes.append(Schema.EntryForm.sealed) }
    let place = SealedLocation(.page, in: try scope(of: table), number: UInt64(change.key.count))
    // The value directly follows the key.
    let both = change.key.lowerBound..<change.value.upperBound
    try changes.bytes.lend(both) { (bytes) throws(StoreError) in
      try sealing.seal.seal(bytes, at: place, to: &sealed.bytes)
    }
    return .init(
      putting: start, keyCount: key.count, valueCount: sealed.bytes.count - start - key.count)
  }
}
