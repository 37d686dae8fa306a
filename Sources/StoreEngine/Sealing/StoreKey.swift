/// What a user opens an encrypted store with: a passphrase, or a key.
///
/// The core has no cryptography of its own: `EncryptionKey` of the product
/// `StoredObjectsEncryption` is what applications use. See <doc:Encryption>.
public protocol StoreKey: Sendable {
  /// Makes what a new store is sealed with.
  ///
  /// - Returns: the seal, and bytes from which ``openSeal(_:)`` makes it again. They are kept
  ///   beside the store as they are, so they must give nothing away without the key.
  /// - Throws: ``StoreError`` when there is no randomness to be had, or the key makes no sense.
  func makeSeal() throws(StoreError) -> (seal: any StoreSeal, keyFile: [UInt8])

  /// The seal of a store that exists.
  ///
  /// - Throws: ``StoreError`` with `wrongKey`, or `damaged` when the bytes make no sense.
  func openSeal(_ keyFile: [UInt8]) throws(StoreError) -> any StoreSeal

  /// The same seal under another key.
  ///
  /// - Throws: ``StoreError`` with `wrongKey` when the bytes are not those of this key's store.
  func rewrap(_ keyFile: [UInt8], for newKey: Self) throws(StoreError) -> [UInt8]
}

/// Seals pieces of a store, so that without its key nobody can read them, or change or move them
/// unnoticed.
///
/// It is made by a ``StoreKey``, and used by whatever writes to files: records, buffers, batches of
/// the log, pages of indexes. Safe on any thread.
public protocol StoreSeal: Sendable {
  /// By how many bytes a piece grows when it is sealed.
  var overhead: Int { get }

  /// A short stand-in for a name, which goes into ``SealedLocation``.
  ///
  /// Different names have different scopes. Costs a hash: keep it.
  func scope(of name: String) -> SealedLocation.Scope

  /// Appends bytes in sealed form, which is different each time.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Throws: ``StoreError`` when there is no randomness to be had.
  func seal(_ bytes: RawSpan, at location: SealedLocation, to sealed: inout [UInt8])
    throws(StoreError)

  /// Appends what was sealed for this place.
  ///
  /// - Returns: false, with nothing appended, when it was not: it has been changed, comes from
  ///   another place, or was sealed by another store.
  func open(_ sealed: RawSpan, at location: SealedLocation, to bytes: inout [UInt8]) -> Bool

  /// A name in sealed form, which is always the same.
  func sealName(_ name: [UInt8]) throws(StoreError) -> [UInt8]

  /// The name that was sealed so; nil when none was.
  func openName(_ sealed: [UInt8]) -> [UInt8]?
}

/// Where a sealed piece belongs: it can be opened only as what it was sealed as.
public struct SealedLocation: Hashable, Sendable {
  /// What a piece is.
  public enum Kind: UInt8, Sendable {
    /// The record of a row; the scope is its table's, the number is the row ID.
    case record = 1
    /// A named buffer; the scope is its name's.
    case buffer = 2
    /// A batch of the commit log; the scope is its epoch and kind, the number its sequence.
    case batch = 3
    /// A page of an index file; the scope is its file's, the number is the page's.
    case page = 4
    /// A chunk of a value outside of records; the scope is its identifier, the number is the
    /// chunk's.
    case external = 5
  }

  /// A stand-in for a name: 128 bits of a hash with a key, or numbers.
  public struct Scope: Hashable, Sendable {
    /// The first half.
    public let high: UInt64
    /// The second half.
    public let low: UInt64

    /// Makes a scope of its halves.
    public init(_ high: UInt64, _ low: UInt64) { (self.high, self.low) = (high, low) }
  }

  /// What the piece is.
  public let kind: Kind
  /// Which file, class, buffer or part of the log it belongs to.
  public let scope: Scope
  /// Its number there.
  public let number: UInt64

  /// Names a place.
  public init(_ kind: Kind, in scope: Scope, number: UInt64 = 0) {
    (self.kind, self.scope, self.number) = (kind, scope, number)
  }
}
