/// Where a backend keeps values that are too large for records.
///
/// A value is a row of chunks of 64 KiB under an identifier; the last chunk may be shorter. It is
/// written once and never changes. Which values there are is listed by the ordered table
/// ``ExternalCatalogue/table``, which a save commits with its records, so a commit need not know of
/// values: they are whole before it, and removed after it.
///
/// A backend on files has a file for each value. One on a server has a table of chunks: identifier,
/// number, bytes. Safe on any threads.
public protocol ExternalStorage: Sendable {
  /// Begins a value under an identifier that nothing has.
  ///
  /// - Throws: ``StoreError`` with `readOnly`, `noSpace`, `ioError` or `closed`.
  func create(_ id: ExternalID) throws(StoreError) -> any ExternalOutput

  /// Opens a value, which stays readable until the result is released, even if it is removed.
  ///
  /// - Throws: ``StoreError`` with `recordMissing`, `damaged` (it has another size), `ioError` or
  ///   `closed`.
  func open(_ reference: ExternalReference) throws(StoreError) -> any ExternalInput

  /// Brings the names of finished values to the disk, before the commit that refers to them.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  func synchronize() throws(StoreError)

  /// Removes a value; one that isn't there is fine.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  func remove(_ id: ExternalID) throws(StoreError)

  /// The values that are there, finished or not, and the bytes that each takes, in no order.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  func list() throws(StoreError) -> [(id: ExternalID, storedByteCount: Int)]
}

/// A value that is being written.
///
/// For one thread at a time. One that is released before it is finished is removed.
public protocol ExternalOutput: AnyObject, Sendable {
  /// Adds a chunk; all but the last have ``ExternalChunks/size`` bytes.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError` or `closed`.
  func append(_ chunk: [UInt8]) throws(StoreError)

  /// Makes the value whole, and brings its bytes to the disk if saves are brought there.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError` or `closed`.
  func finish() throws(StoreError)
}

/// A value that is open for reading; safe on any threads.
public protocol ExternalInput: AnyObject, Sendable {
  /// Reads a chunk, and checks it.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `notAuthentic`, `ioError` or `closed`.
  func chunk(_ number: Int) throws(StoreError) -> [UInt8]
}

/// How values are divided.
public enum ExternalChunks {
  /// The number of bytes of every chunk but the last.
  public static let size = 64 << 10

  /// The number of chunks of a value.
  public static func count(_ byteCount: Int) -> Int { (byteCount + size - 1) / size }

  /// The number of bytes of a chunk.
  public static func byteCount(of number: Int, in byteCount: Int) -> Int {
    min(size, byteCount - number * size)
  }
}

extension StoreBackend {
  /// None: values of any size stay in their records.
  public var externalStorage: (any ExternalStorage)? { nil }
}
