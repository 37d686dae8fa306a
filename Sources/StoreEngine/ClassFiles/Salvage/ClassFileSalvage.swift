/// A search for the records of a class file that may be damaged.
public protocol ClassFileSalvage {
  /// A closure that receives the records found; key and value are valid only during the call.
  ///
  /// `offset` is the beginning of the record. `isCertain` is true if the structure of the file
  /// leads to it; otherwise the record may have been deleted or rewritten since.
  typealias Body = (
    _ key: RawSpan, _ value: RawSpan, _ offset: Int, _ isCertain: Bool
  ) throws(StoreError) -> Void

  /// Calls a closure with the records in the order of the file; may be called repeatedly.
  ///
  /// Complexity: linear in the size of the file; at worst some hundred times that if it is damaged.
  ///
  /// - Parameters:
  ///   - isValid: Returns whether a key and a value are what was saved, by a checksum or a seal;
  ///     nil if there is neither. Invalid records are passed on, too.
  ///   - body: Called with each record.
  /// - Throws: An error of the closure.
  mutating func run(
    isValid: ((_ key: RawSpan, _ value: RawSpan) -> Bool)?, _ body: Body
  ) throws(StoreError)

  /// The reason why values can't be read, unless a checksum confirms them; nil by default.
  var unreadable: ClassFileDamage? { get }

  /// Returns the damage found by the last run.
  ///
  /// Complexity: linear in the number of damaged places.
  ///
  /// - Parameter foundCount: The number of rows that were identified.
  /// - Returns: The damage, in the order of the file.
  func damage(foundCount: Int) -> [ClassFileDamage]
}

extension ClassFileSalvage {
  /// No reason: values can be read.
  public var unreadable: ClassFileDamage? { nil }
}

/// Damage to a class file that a salvage has found.
public struct ClassFileDamage: Sendable {
  /// The kind of finding.
  public let kind: StoreFinding.Kind
  /// A description of the loss, in a sentence.
  public let message: String
  /// The offset in the file; nil if it is of no use.
  public let offset: Int?

  /// Creates a description of damage.
  public init(_ kind: StoreFinding.Kind, _ message: String, offset: Int? = nil) {
    (self.kind, self.message, self.offset) = (kind, message, offset)
  }

  /// Returns descriptions of unreadable parts of a file.
  ///
  /// Complexity: linear in the number of gaps.
  public static func gaps(_ gaps: [Range<Int>]) -> [ClassFileDamage] {
    gaps.map {
      ClassFileDamage(
        .fileDamaged, "\($0.count) bytes of the file are unreadable.", offset: $0.lowerBound)
    }
  }
}

/// A writer of a new class file, one record after another, without repeated keys.
///
/// If it is released before it is finished, it leaves no file that could be taken for a complete
/// one.
public protocol ClassFileWriter {
  /// Adds a record.
  ///
  /// Complexity: linear in the size of the record, on average.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  func add(key: RawSpan, value: RawSpan) throws(StoreError)

  /// Adds the record of a row.
  ///
  /// Complexity: linear in the size of the record, on average.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  func add(_ rowID: UInt32, value: RawSpan) throws(StoreError)

  /// Completes the file, and syncs it if that was requested.
  ///
  /// Complexity: at most linear in the size of the file. It waits for the disk if the file is
  /// synced.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  func finish() throws(StoreError)

  /// Removes the file.
  func cancel()
}
