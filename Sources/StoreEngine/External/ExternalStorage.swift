/// The storage of a backend for values that are too large for records.
///
/// A value is a sequence of chunks of 64 KiB under an identifier; the last chunk may be shorter. It
/// is written once and never changes. The ordered table ``ExternalCatalogue/table`` lists the
/// values, and a save commits it with its records. So a commit need not know about values: they are
/// complete before it, and removed after it.
///
/// A backend on files has a file for each value. A backend on a server has a table of chunks:
/// identifier, number, bytes. Safe on any thread.
public protocol ExternalStorage: Sendable {
  /// Creates a value under an unused identifier.
  ///
  /// Complexity: creates a file, or one round trip to a server.
  ///
  /// - Throws: ``StoreError`` with `readOnly`, `noSpace`, `ioError` or `closed`.
  func create(_ id: ExternalID) throws(StoreError) -> any ExternalOutput

  /// Opens a value, which stays readable until the result is released, even if it is removed.
  ///
  /// Complexity: one read of the header of the value; one round trip to a server.
  ///
  /// - Throws: ``StoreError`` with `recordMissing`, `damaged` (it has another size), `ioError` or
  ///   `closed`.
  func open(_ reference: ExternalReference) throws(StoreError) -> any ExternalInput

  /// Syncs the names of finished values, before the commit that refers to them.
  ///
  /// Complexity: at most one sync of the directory of the files.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  func synchronize() throws(StoreError)

  /// Removes a value; a missing value is not an error.
  ///
  /// Complexity: removes a file, or a few round trips to a server.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  func remove(_ id: ExternalID) throws(StoreError)

  /// Returns the existing values, finished or not, and their stored sizes, in no particular order.
  ///
  /// Complexity: linear in the number of values.
  ///
  /// - Throws: ``StoreError`` with `ioError` or `closed`.
  func list() throws(StoreError) -> [(id: ExternalID, storedByteCount: Int)]
}

/// A value that is being written.
///
/// Use it from one thread at a time. It is removed if it is released before it is finished.
public protocol ExternalOutput: AnyObject, Sendable {
  /// Adds a chunk; all except the last have ``ExternalChunks/size`` bytes.
  ///
  /// Complexity: linear in the size of the chunk; one round trip to a server.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError` or `closed`.
  func append(_ chunk: [UInt8]) throws(StoreError)

  /// Completes the value, and syncs its bytes if the durability level requires it.
  ///
  /// Complexity: one wait for the disk or one round trip to a server, as the durability requires.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError` or `closed`.
  func finish() throws(StoreError)
}

/// A value that is open for reading; safe on any thread.
public protocol ExternalInput: AnyObject, Sendable {
  /// Reads and verifies a chunk.
  ///
  /// Complexity: linear in the size of the chunk; one round trip to a server.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `notAuthentic`, `ioError` or `closed`.
  func chunk(_ number: Int) throws(StoreError) -> [UInt8]
}

/// The division of values into chunks.
public enum ExternalChunks {
  /// The number of bytes of every chunk except the last.
  public static let size = 64 << 10

  /// Returns the number of chunks of a value.
  public static func count(_ byteCount: Int) -> Int { (byteCount + size - 1) / size }

  /// Returns the number of bytes of a chunk.
  public static func byteCount(of number: Int, in byteCount: Int) -> Int {
    min(size, byteCount - number * size)
  }
}

extension StoreBackend {
  /// No storage: values of any size stay in their records.
  public var externalStorage: (any ExternalStorage)? { nil }
}
