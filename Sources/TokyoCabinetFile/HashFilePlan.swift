import Files

/// Where the records of a new file will stand, and how they will be linked, before any is written.
///
/// The keys and the sizes of the values are enough to know it. So the file can be written from its
/// first byte to its last, each record with its links.
///
/// Memory: 4 bytes a record and its key, 8 bytes more if not all keys have 4 bytes; while the file
/// is written, 12 more, and 4 a bucket.
public struct HashFilePlan {
  /// The layout of the file.
  public let layout: HashFileLayout
  let path: String
  /// Where the file ends.
  private(set) var end: Int
  private var keys = PlannedKeys()
  /// Where each record begins.
  private var offsets: AlignedOffsets

  /// Plans a file without records.
  ///
  /// - Parameters:
  ///   - layout: How it is to be laid out.
  ///   - path: What errors are to name as the file.
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

  /// Makes room for records.
  public mutating func reserveCapacity(_ count: Int) {
    offsets.reserveCapacity(count + 1)
    keys.reserveCapacity(count)
  }

  /// Plans a record behind those that are planned.
  ///
  /// Complexity: linear in the size of the key.
  ///
  /// - Throws: ``HashFileError`` with `tooLarge`, when the record is larger than 512 MiB or the
  ///   file would be larger than the layout allows.
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

  /// Makes the trees of all buckets.
  ///
  /// Complexity: O(n log k) for n records, k of them in the fullest bucket.
  ///
  /// - Throws: ``HashFileError`` with `duplicateKey`.
  func links() throws(HashFileError) -> HashFileLinks {
    var links = HashFileLinks(offsets, end, layout)
    links.chain(keys)
    var members: [HashFileMember] = []
    // By records, not by buckets: those of one bucket often stand close together.
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

  /// Puts the greatest key first.
  ///
  /// Most buckets have a few records, for which nothing is faster than inserting one after the
  /// other.
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
