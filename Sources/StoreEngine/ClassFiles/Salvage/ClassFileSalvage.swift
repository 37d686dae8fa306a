/// A look for the records of a class file that may be damaged.
public protocol ClassFileSalvage {
  /// What gets a record that was found; key and value are valid only inside.
  ///
  /// `offset` is where it begins. `isCertain` says that the structure of the file leads to it:
  /// otherwise it may be one that was deleted or rewritten since.
  typealias Body = (
    _ key: RawSpan, _ value: RawSpan, _ offset: Int, _ isCertain: Bool
  ) throws(StoreError) -> Void

  /// Lends the records in the order of the file; may be called again.
  ///
  /// Complexity: linear in the size of the file; where it is damaged, a few times that.
  ///
  /// - Parameters:
  ///   - isValid: Whether a key and a value are what was saved, by a checksum or a seal; nil where
  ///     there is neither. Records that are not valid are lent, too.
  ///   - body: Gets each record.
  /// - Throws: What the closure throws.
  mutating func run(
    isValid: ((_ key: RawSpan, _ value: RawSpan) -> Bool)?, _ body: Body
  ) throws(StoreError)

  /// Why values can't be read, unless a checksum says that they are as they were saved; nil, as by
  /// default, when they can.
  var unreadable: ClassFileDamage? { get }

  /// The damage that the last run has met.
  ///
  /// - Parameter foundCount: The number of rows that could be told.
  /// - Returns: The damage, in the order of the file.
  func damage(foundCount: Int) -> [ClassFileDamage]
}

extension ClassFileSalvage {
  /// They can be read.
  public var unreadable: ClassFileDamage? { nil }
}

/// Damage of a class file that a salvage has met.
public struct ClassFileDamage: Sendable {
  /// The kind of finding.
  public let kind: StoreFinding.Kind
  /// What is lost, in a sentence.
  public let message: String
  /// Where in the file; nil when that says nothing.
  public let offset: Int?

  /// Describes damage.
  public init(_ kind: StoreFinding.Kind, _ message: String, offset: Int? = nil) {
    (self.kind, self.message, self.offset) = (kind, message, offset)
  }

  /// Describes parts of a file that are unreadable.
  public static func gaps(_ gaps: [Range<Int>]) -> [ClassFileDamage] {
    gaps.map {
      ClassFileDamage(
        .fileDamaged, "\($0.count) bytes of the file are unreadable.", offset: $0.lowerBound)
    }
  }
}

/// A new class file that takes one record after the other, no key twice.
///
/// One that is dropped without being finished leaves no file that could pass for a whole one.
public protocol ClassFileWriter {
  /// Adds a record.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  func add(key: RawSpan, value: RawSpan) throws(StoreError)

  /// Adds the record of a row.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  func add(_ rowID: UInt32, value: RawSpan) throws(StoreError)

  /// Makes the file whole, and brings it to the disk if it is to be.
  ///
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  func finish() throws(StoreError)

  /// Removes the file.
  func cancel()
}
