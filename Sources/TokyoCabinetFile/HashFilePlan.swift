import Files

/// The plan of a new file: the offsets and links of its records, before any is written.
///
/// The keys and the sizes of the values determine the plan. So the file can be written
/// sequentially, each record with its links.
///
/// The plan needs memory for 4 bytes per record and its key, and 8 bytes more unless all keys have
/// 4 bytes. While the file is written it needs 12 more, and 4 per bucket.
public struct HashFilePlan {
  /// The layout of the file.
  public let layout: HashFileLayout
  let path: String
  /// The end of the file.
  private(set) var end: Int
  private var keys = PlannedKeys()
  /// The offsets of the records.
  private var offsets: AlignedOffsets

  /// Creates the plan of a file without records.
  ///
  /// Complexity: constant time.
  ///
  /// - Parameters:
  ///   - layout: The layout of the file.
  ///   - path: The path for errors.
  /// - Throws: ``HashFileError`` with `invalidLayout`.
  public init(layout: HashFileLayout, path: String) throws(HashFileError) {
    try layout.check(path)
    self.layout = layout
    self.path = path
    offsets = AlignedOffsets(alignmentPower: layout.alignmentPower)
    end = layout.first
  }

  /// The number of records.
  public var count: Int { offsets.count }

  /// Reserves memory for records.
  ///
  /// Complexity: linear in the number of records, which may be copied.
  public mutating func reserveCapacity(_ count: Int) {
    offsets.reserveCapacity(count + 1)
    keys.reserveCapacity(count)
  }

  /// Adds a record to the end of the plan.
  ///
  /// Complexity: linear in the size of the key.
  ///
  /// - Throws: ``HashFileError`` with `tooLarge` if the record is larger than 512 MiB, or the file
  ///   would be larger than the layout allows.
  @inline(__always)
  public mutating func add(key: RawSpan, valueCount: Int) throws(HashFileError) {
    let keyCount = key.byteCount
    guard keyCount <= HashFileFormat.recordLimit,
      valueCount <= HashFileFormat.recordLimit - keyCount
    else { throw tooLarge("a record may not be larger than 512 MiB") }
    let next = layout.aligned(end + layout.recordSize(keyCount, valueCount))
    guard next <= layout.sizeLimit, offsets.count < UInt32.max - 1 else {
      throw tooLarge("the file would be larger than its offsets can address: use the option large")
    }
    assert(next > end && next == layout.aligned(next), "a record that takes no room")
    offsets.append(end)
    end = next
    keys.append(key)
  }

  private func tooLarge(_ message: String) -> HashFileError {
    HashFileError(.tooLarge, message, path: path, offset: end)
  }

  /// Builds the trees of all buckets.
  ///
  /// Complexity: O(n log k) for n records, k of them in the fullest bucket.
  ///
  /// - Throws: ``HashFileError`` with `duplicateKey`.
  func links() throws(HashFileError) -> HashFileLinks {
    var links = HashFileLinks(offsets, end, layout)
    links.chain(keys)
    var members: [HashFileMember] = []
    // Iterate by records and not by buckets, because the records of a bucket are often adjacent.
    for last in links.numbers {
      let bucket = links.bucket(of: last, keys)
      guard links.isTreeless(bucket, last) else { continue }
      links.chained(from: last, keys, &members)
      try sort(&members, links)
      assert(
        zip(members, members.dropFirst()).allSatisfy { $0.order >= $1.order },
        "the records of a bucket are not in their order")
      links.roots[bucket] = links.makeTree(members, 0..<members.count)
    }
    return links
  }

  /// Sorts records by key, the greatest first.
  ///
  /// Most buckets have a few records, for which insertion sort is the fastest.
  private func sort(
    _ members: inout [HashFileMember], _ links: HashFileLinks
  ) throws(HashFileError) {
    guard members.count <= 16 else { return try sortMany(&members, links) }
    for index in 1..<members.count {
      let member = members[index]
      var offset = index
      while offset > 0, try isGreater(member, members[offset - 1], links) {
        members[offset] = members[offset - 1]
        offset -= 1
      }
      members[offset] = member
    }
  }

  private func sortMany(
    _ members: inout [HashFileMember], _ links: HashFileLinks
  ) throws(HashFileError) {
    do {
      try members.sort { try isGreater($0, $1, links) }
    } catch let error as HashFileError {
      throw error
    } catch {
      throw HashFileError(.ioError, "\(error)", path: path)
    }
  }

  @inline(__always)
  private func isGreater(
    _ a: HashFileMember, _ b: HashFileMember, _ links: HashFileLinks
  ) throws(HashFileError) -> Bool {
    a.order != b.order ? a.order > b.order : try hasGreaterKey(a, b, links)
  }

  private func hasGreaterKey(
    _ a: HashFileMember, _ b: HashFileMember, _ links: HashFileLinks
  ) throws(HashFileError) -> Bool {
    if a.number == b.number { return false }
    let order = keys.compare(a.number, b.number)
    if order == 0 {
      throw HashFileError(
        .duplicateKey,
        "two records have the same key, the other one at \(links.offset(of: a.number))",
        path: path, offset: links.offset(of: b.number))
    }
    return order > 0
  }
}
