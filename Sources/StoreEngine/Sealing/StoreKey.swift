/// The passphrase or key that opens an encrypted store.
///
/// The engine has no cryptography of its own: applications use `EncryptionKey` of the product
/// `StoredObjectsEncryption`. See <doc:Encryption>.
public protocol StoreKey: Sendable {
  /// Creates the seal of a new store.
  ///
  /// Complexity: the time that the cost of the key requires.
  ///
  /// - Returns: The seal, and bytes from which ``openSeal(_:)`` restores it. The bytes are stored
  ///   beside the store without encryption, so they must reveal nothing without the key.
  /// - Throws: ``StoreError`` if the system has no random numbers, or the key is not valid.
  func makeSeal() throws(StoreError) -> (seal: any StoreSeal, keyFile: [UInt8])

  /// Returns the seal of an existing store.
  ///
  /// Complexity: the time that the cost of the key requires.
  ///
  /// - Throws: ``StoreError`` with `wrongKey`, or `damaged` if the bytes are not valid.
  func openSeal(_ keyFile: [UInt8]) throws(StoreError) -> any StoreSeal

  /// Returns the bytes of a key file for the same seal under another key.
  ///
  /// Complexity: the time that the costs of both keys require.
  ///
  /// - Throws: ``StoreError`` with `wrongKey` if this key does not open the key file.
  func rewrap(_ keyFile: [UInt8], for newKey: Self) throws(StoreError) -> [UInt8]
}

/// A seal for the pieces of a store.
///
/// Without the store's key nobody can read the pieces, or change or move them without being
/// detected. A ``StoreKey`` creates the seal. Everything that writes to files uses it: records,
/// buffers, batches of the log, pages of indexes. Safe on any thread.
public protocol StoreSeal: Sendable {
  /// The number of bytes by which sealing enlarges a piece.
  var overhead: Int { get }

  /// Returns the short substitute for a name in a ``SealedLocation``.
  ///
  /// Different names have different scopes. The call computes a hash, so keep the result.
  func scope(of name: String) -> SealedLocation.Scope

  /// Appends bytes in sealed form, which is different each time.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Throws: ``StoreError`` if the system has no random numbers.
  func seal(_ bytes: RawSpan, at location: SealedLocation, to sealed: inout [UInt8])
    throws(StoreError)

  /// Opens bytes that were sealed for this location, and appends the content.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Returns: false, with nothing appended, if the bytes were changed, were sealed for another
  ///   location, or were sealed by another store.
  func open(_ sealed: RawSpan, at location: SealedLocation, to bytes: inout [UInt8]) -> Bool

  /// Returns a name in sealed form, which is always the same for a name.
  ///
  /// Complexity: linear in the number of bytes.
  ///
  /// - Throws: ``StoreError`` if the cipher fails.
  func sealName(_ name: [UInt8]) throws(StoreError) -> [UInt8]

  /// Returns the name of a sealed form; nil if this store did not seal it.
  ///
  /// Complexity: linear in the number of bytes.
  func openName(_ sealed: [UInt8]) -> [UInt8]?
}

/// The place of a sealed piece, which opens only as the piece it was sealed as.
public struct SealedLocation: Hashable, Sendable {
  /// The kind of a piece.
  public enum Kind: UInt8, Sendable {
    /// The record of a row; the scope is that of its table, the number is the row ID.
    case record = 1
    /// A named buffer; the scope is that of its name.
    case buffer = 2
    /// A batch of the commit log; the scope is its epoch and kind, the number its sequence.
    case batch = 3
    /// A page of an index file; the scope is that of the file, the number is the page's offset.
    case page = 4
    /// A chunk of an external value; the scope is its identifier, the number is that of the chunk.
    case external = 5
  }

  /// A substitute for a name: 128 bits of a keyed hash, or numbers.
  public struct Scope: Hashable, Sendable {
    /// The first half.
    public let high: UInt64
    /// The second half.
    public let low: UInt64

    /// Creates a scope from its halves.
    public init(_ high: UInt64, _ low: UInt64) { (self.high, self.low) = (high, low) }
  }

  /// The kind of the piece.
  public let kind: Kind
  /// The file, class, buffer or part of the log that the piece belongs to.
  public let scope: Scope
  /// The number of the piece in its scope.
  public let number: UInt64

  /// Creates a location.
  public init(_ kind: Kind, in scope: Scope, number: UInt64 = 0) {
    (self.kind, self.scope, self.number) = (kind, scope, number)
  }
}
