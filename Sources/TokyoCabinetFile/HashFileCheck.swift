/// What a full check of a hash file's structure has found.
///
///     let check = try HashFile("Song").check()
///     for finding in check.findings { print(finding) }
///
/// A file without findings can be given to the C library.
public struct HashFileCheck: Sendable {
  /// Something that is wrong in a file.
  public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// Which part of the file it is about.
    public let part: Part
    /// What is wrong.
    public let message: String
    /// Where, in bytes from the beginning of the file, if it has a place.
    public let offset: Int?

    /// Both in one line.
    public var description: String { message + (offset.map { ", offset \($0)" } ?? "") }
  }

  /// The parts of a file.
  public enum Part: Sendable, Hashable {
    /// The header: its counts and marks.
    case header
    /// The chain of records and free blocks.
    case blocks
    /// The buckets and the trees of records that hang from them.
    case index
    /// The list of free blocks.
    case pool
  }

  /// No more findings than this are kept.
  public static let findingLimit = 100

  /// What is wrong, in the order in which it was found; empty for a file that is sound.
  public private(set) var findings: [Finding] = []
  /// How many more findings there were than ``findings`` holds.
  public private(set) var omittedCount = 0
  /// The number of records in the chain of blocks.
  public internal(set) var recordCount = 0
  /// The number of free blocks in the chain of blocks.
  public internal(set) var freeBlockCount = 0
  /// The bytes in free blocks and in the padding of records.
  public internal(set) var unusedByteCount = 0
  /// The number of buckets that have a record.
  public internal(set) var usedBucketCount = 0
  /// The most records that a look-up has to read.
  public internal(set) var greatestDepth = 0

  /// Whether nothing is wrong.
  public var isSound: Bool { findings.isEmpty }

  mutating func add(_ part: Part, _ message: String, at offset: Int? = nil) {
    if findings.count < Self.findingLimit {
      findings.append(Finding(part: part, message: message, offset: offset))
    } else {
      omittedCount += 1
    }
  }
}
