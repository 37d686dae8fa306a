/// Row 1 of a class: the metadata of the class as a whole.
///
/// The first 14 bytes are those of BNRPersistence; a row of 6 bytes, without the salt, is valid.
/// BNRPersistence ignores the rest:
///
///     0   UInt32  last row ID given out; it never goes back
///     4   UInt8   version of the class
///     5   UInt8   class ID
///     6   UInt32  salt, first word
///     10  UInt32  salt, second word
///     14  UInt8   version of the extension, 1
///     15  UInt32  flags
///     19  UInt32  CRC-32C of the 19 bytes before
///
/// All integers are little-endian. See <doc:DataBufferFormat> for an example in hex.
public struct ClassMetadata: Hashable, Sendable {
  /// The highest row ID given out; the next object gets the next one.
  public var lastRowID: UInt32
  /// The highest version byte of a record, which is the number of the newest layout.
  public var classVersion: UInt8
  /// The number of the class in the store, used in references to objects of any class.
  public var classID: UInt8
  /// Two random words, generated with the class, for deriving keys.
  public var salt: Salt
  /// The properties of the class's records; nil in a row of BNRPersistence.
  public var flags: Flags?

  /// The two words of a salt.
  public struct Salt: Hashable, Sendable {
    /// The first word.
    public var first: UInt32
    /// The second word.
    public var second: UInt32

    /// Creates a salt from two words.
    public init(_ first: UInt32, _ second: UInt32) { (self.first, self.second) = (first, second) }

    /// Returns a new random salt.
    package static func random() -> Salt { Salt(.random(in: 0 ... .max), .random(in: 0 ... .max)) }
  }

  /// Properties that all records of a class share.
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The bits as they are on disk.
    public let rawValue: UInt32

    /// Creates flags from the bits on disk.
    @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Records don't begin with the version of their class.
    @inlinable public static var unversionedRecords: Flags { Flags(rawValue: 1) }

    /// Records end with a CRC-32C of their class ID, row ID and bytes.
    @inlinable public static var checksums: Flags { Flags(rawValue: 2) }

    /// A named buffer holds the layouts of the records.
    @inlinable public static var layouts: Flags { Flags(rawValue: 4) }

    /// The flags that this library understands.
    static let known: Flags = [.unversionedRecords, .checksums, .layouts]
  }

  @inlinable package static var rowID: UInt32 { 1 }
  private static let extensionVersion: UInt8 = 1

  /// Creates the metadata of a class.
  public init(
    lastRowID: UInt32 = 1, classVersion: UInt8, classID: UInt8, salt: Salt, flags: Flags? = []
  ) {
    self.lastRowID = lastRowID
    self.classVersion = classVersion
    self.classID = classID
    self.salt = salt
    self.flags = flags
  }

  /// Reads a metadata row.
  ///
  /// - Throws: ``DataBufferError`` with `endOfBuffer`, `unreadBytes`, or `invalidValue` for a wrong
  ///   checksum or for flags of a later version of this library.
  public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    lastRowID = max(try buffer.readUInt32(), 1)
    classVersion = try buffer.readUInt8()
    classID = try buffer.readUInt8()
    salt = Salt(0, 0)
    flags = nil
    if buffer.remainingCount == 0 { return }
    salt = Salt(try buffer.readUInt32(), try buffer.readUInt32())
    if buffer.remainingCount > 0 { flags = try Self.readFlags(from: &buffer) }
  }

  private static func readFlags(from buffer: inout DataBuffer) throws(DataBufferError) -> Flags {
    let offset = buffer.offset
    guard try buffer.readUInt8() == extensionVersion else {
      throw DataBufferError(.invalidValue, at: offset, "written by a later version of this library")
    }
    let flags = Flags(rawValue: try buffer.readUInt32())
    let expected = buffer.checksumOfBytesRead
    guard try buffer.readUInt32() == expected else {
      throw DataBufferError(.invalidValue, at: offset, "the checksum is wrong")
    }
    guard flags.isSubset(of: .known) else {
      throw DataBufferError(
        .invalidValue, at: offset,
        "the flags \(flags.rawValue) are of a later version of this library")
    }
    guard buffer.remainingCount == 0 else {
      throw DataBufferError(
        .unreadBytes, at: buffer.offset,
        "bytes after the end of the metadata row")
    }
    return flags
  }

  /// Whether two rows are the same except for the last row ID.
  static func differOnlyInLastRowID(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    // The checksum at the end is of the last row ID, too.
    return (4..<max(4, min(left.count, 19))).allSatisfy { left[$0] == right[$0] }
  }

  /// Writes the row: 14 bytes, or 23 with flags.
  public func write(to buffer: inout DataBuffer) {
    var integers = IntegerBytes()
    integers.add(lastRowID)
    integers.add(classVersion)
    integers.add(classID)
    integers.add(salt.first)
    integers.add(salt.second)
    if let flags {
      integers.add(Self.extensionVersion)
      integers.add(flags.rawValue)
    }
    buffer.append(integers)
    if flags != nil { buffer.write(buffer.checksumOfRecord) }
  }
}
