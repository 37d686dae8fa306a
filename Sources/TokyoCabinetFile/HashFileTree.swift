import Files

/// A walk over the trees of buckets, one after another.
struct HashFileTree {
  /// A problem in a tree.
  struct Fault {
    let message: String
    let offset: Int
  }

  private let geometry: HashFileGeometry
  /// The records whose left side is being visited, from the root down, and their depths.
  private var path: [(record: HashFileBlock, depth: Int)] = []
  /// The depth of the last tree.
  private(set) var depth = 0

  init(_ geometry: HashFileGeometry) { self.geometry = geometry }

  /// Visits a tree in descending order of its keys, up to the first problem.
  ///
  /// Complexity: linear in the number of its records, because none is visited twice.
  ///
  /// - Parameters:
  ///   - bucket: The number of the bucket.
  ///   - root: The offset of the first record.
  ///   - bytes: The file.
  ///   - records: The offsets of all records.
  ///   - unreached: The offsets of those that no tree has led to yet.
  /// - Returns: The problem, or nil.
  mutating func walk(
    _ bucket: UInt64, _ root: Int, _ bytes: RawSpan, _ records: borrowing OffsetSet,
    _ unreached: inout OffsetSet
  ) -> Fault? {
    path.removeAll(keepingCapacity: true)
    depth = 0
    var (next, level, before) = (root, 0, HashFileBlock?.none)
    while next != 0 || !path.isEmpty {
      while next != 0 {
        guard unreached.remove(next) else {
          let isKnown = records.contains(next)
          return Fault(isKnown ? "a record occurs twice" : "a link leads to no record", next)
        }
        guard let record = try? geometry.block(in: bytes, at: next) else {
          return Fault("a link leads to no record", next)
        }
        if let fault = fault(of: record, in: bucket, bytes) { return fault }
        level += 1
        path.append((record, level))
        next = geometry.offset(in: bytes, at: geometry.left(next))
      }
      let (record, recordDepth) = path.removeLast()
      level = recordDepth
      depth = max(depth, level)
      if let before, !isGreater(before, record, bytes) {
        return Fault("a record is on the wrong side of another", record.offset)
      }
      before = record
      next = geometry.offset(in: bytes, at: geometry.right(record.offset))
    }
    return nil
  }

  /// Returns the problem of a single record, or nil.
  @inline(__always)
  private func fault(
    of record: HashFileBlock, in bucket: UInt64, _ bytes: RawSpan
  ) -> Fault? {
    let hashes =
      record.keyCount == 4
      ? HashFileFormat.hashes(
        ofBigEndian: bytes.loadUInt32(at: record.keyStart, isBigEndian: true))
      : HashFileFormat.hashes(of: bytes.extracting(record.key))
    if hashes.second != bytes.loadByte(at: record.offset + 1) {
      return Fault("the second hash of a record is not that of its key", record.offset)
    }
    if hashes.first % geometry.bucketCount != bucket {
      return Fault("a record belongs to another bucket", record.offset)
    }
    return nil
  }

  private func isGreater(_ a: HashFileBlock, _ b: HashFileBlock, _ bytes: RawSpan) -> Bool {
    let (first, second) = (bytes.loadByte(at: a.offset + 1), bytes.loadByte(at: b.offset + 1))
    if first != second { return first > second }
    return HashFileFormat.compare(bytes.extracting(a.key), bytes.extracting(b.key)) > 0
  }
}

extension HashFileTree.Fault {
  fileprivate init(_ message: String, _ offset: Int) {
    self.init(message: message, offset: offset)
  }
}

/// A set of offsets of blocks, with a bit for each possible offset.
struct OffsetSet {
  private let start: Int
  private let power: Int
  private var words: [UInt64]

  init(_ geometry: HashFileGeometry) {
    // The set begins at the last aligned offset before the first block, which may be anywhere.
    power = Int(geometry.alignmentPower)
    start = geometry.first >> power
    let offsets = (geometry.end >> power) - start + 1
    words = [UInt64](repeating: 0, count: (offsets + 63) / 64)
  }

  /// Returns the bit of an offset; nil if no block can begin there.
  @inline(__always)
  private func index(_ offset: Int) -> Int? {
    let index = offset &>> power &- start
    guard index &<< power &+ start &<< power == offset, index >= 0, index < words.count &* 64 else {
      return nil
    }
    return index
  }

  @inline(__always)
  func contains(_ offset: Int) -> Bool {
    index(offset).map { words[$0 &>> 6] &>> UInt64($0 & 63) & 1 == 1 } ?? false
  }

  /// Adds an offset; does nothing if no block can begin there.
  @inline(__always)
  mutating func insert(_ offset: Int) {
    guard let index = index(offset) else { return }
    words[index &>> 6] |= 1 &<< UInt64(index & 63)
  }

  /// Removes an offset, and returns whether the set had it.
  @inline(__always)
  mutating func remove(_ offset: Int) -> Bool {
    guard let index = index(offset) else { return false }
    let bit: UInt64 = 1 &<< UInt64(index & 63)
    guard words[index &>> 6] & bit != 0 else { return false }
    words[index &>> 6] &= ~bit
    return true
  }

  /// The number of offsets.
  ///
  /// Complexity: linear in the number of possible ones.
  var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

  /// The first offset; nil if there is none.
  var first: Int? {
    guard let word = words.firstIndex(where: { $0 != 0 }) else { return nil }
    return (word * 64 + words[word].trailingZeroBitCount + start) << power
  }
}
