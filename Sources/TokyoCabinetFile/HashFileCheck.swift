/// The result of a full check of a hash file's structure.
///
///     let check = try HashFile("Song").check()
///     for finding in check.findings { print(finding) }
///
/// A file without findings is safe to use with the C library.
public struct HashFileCheck: Sendable {
  /// A problem in a file.
  public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// The part of the file with the problem.
    public let part: Part
    /// A description of the problem.
    public let message: String
    /// The offset in the file, if the problem has a place.
    public let offset: Int?

    /// The message and the offset in one line.
    public var description: String { message + (offset.map { ", offset \($0)" } ?? "") }
  }

  /// The parts of a file.
  public enum Part: Sendable, Hashable {
    /// The header: its counts and marks.
    case header
    /// The chain of records and free blocks.
    case blocks
    /// The buckets and their trees of records.
    case index
    /// The list of free blocks.
    case pool
  }

  /// The maximum number of findings that are kept.
  public static let findingLimit = 100

  /// The findings, in the order in which they were found; empty for an undamaged file.
  public private(set) var findings: [Finding] = []
  /// The number of findings beyond those in ``findings``.
  public private(set) var omittedCount = 0
  /// The number of records in the chain of blocks.
  public internal(set) var recordCount = 0
  /// The number of free blocks in the chain of blocks.
  public internal(set) var freeBlockCount = 0
  /// The number of bytes in free blocks and in the padding of records.
  public internal(set) var unusedByteCount = 0
  /// The number of buckets with records.
  public internal(set) var usedBucketCount = 0
  /// The maximum number of records that a look-up has to read.
  public internal(set) var greatestDepth = 0

  /// Whether there are no findings.
  public var isSound: Bool { findings.isEmpty }

  mutating func add(_ part: Part, _ message: String, at offset: Int? = nil) {
    if findings.count < Self.findingLimit {
      findings.append(Finding(part: part, message: message, offset: offset))
    } else {
      omittedCount += 1
    }
  }
}
