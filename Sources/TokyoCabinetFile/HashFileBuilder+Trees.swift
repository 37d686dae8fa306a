import Files

extension HashFileBuilder {
  /// Makes the trees, puts the links into the records, and makes the part before the first record.
  mutating func complete() throws(HashFileError) -> [UInt8] {
    let links = try makeTrees()
    try put(links)
    var start = HashFileHeader.bytes(layout, recordCount: entries.count, fileSize: image.end)
    start.reserveCapacity(layout.first)
    start += [UInt8](repeating: 0, count: layout.first - start.count)
    for (bucket, root) in links.roots.enumerated() where root != 0 {
      links.store(root, in: &start, at: HashFileHeader.size + bucket * layout.width)
    }
    return start
  }

  // MARK: Trees

  private func makeTrees() throws(HashFileError) -> HashFileLinks {
    var links = HashFileLinks(entries, layout)
    var (members, ends) = membersByBucket()
    var start = 0
    for bucket in 0..<layout.bucketCount {
      let range = start..<Int(ends[bucket])
      start = range.upperBound
      if range.isEmpty { continue }
      if range.count > 1 { try sort(&members, range) }
      links.roots[bucket] = Self.makeTree(members, range, &links.left, &links.right)
    }
    return links
  }

  /// An entry among those of its bucket.
  private struct Member {
    /// As in the entry: here, so that sorting reads what lies close together.
    var order: UInt64 = 0
    /// The number of the entry, from 1 on.
    var number: UInt32 = 0
  }

  /// The entries, those of a bucket together, and where each bucket ends among them.
  private func membersByBucket() -> (members: [Member], ends: [UInt32]) {
    var places = [UInt32](repeating: 0, count: layout.bucketCount + 1)
    for entry in entries { places[Int(entry.bucket) + 1] += 1 }
    for bucket in 0..<layout.bucketCount { places[bucket + 1] += places[bucket] }
    var members = [Member](repeating: Member(), count: entries.count)
    var number: UInt32 = 0
    for entry in entries {
      number += 1
      members[Int(places[Int(entry.bucket)])] = Member(order: entry.order, number: number)
      places[Int(entry.bucket)] += 1
    }
    // Each bucket's place has moved on to its end.
    return (members, places)
  }

  /// Puts the greatest key first.
  ///
  /// Most buckets have a few records, for which nothing is faster than inserting one after the other.
  private func sort(_ members: inout [Member], _ range: Range<Int>) throws(HashFileError) {
    guard range.count <= 16 else { return try sortMany(&members, range) }
    for index in range.dropFirst() {
      let member = members[index]
      var place = index
      while place > range.lowerBound, try isGreater(member, members[place - 1]) {
        members[place] = members[place - 1]
        place -= 1
      }
      members[place] = member
    }
  }

  private func sortMany(_ members: inout [Member], _ range: Range<Int>) throws(HashFileError) {
    do {
      try members[range].sort { try isGreater($0, $1) }
    } catch let error as HashFileError {
      throw error
    } catch {
      throw HashFileError(.ioError, "\(error)", path: path)
    }
  }

  @inline(__always)
  private func isGreater(_ a: Member, _ b: Member) throws(HashFileError) -> Bool {
    a.order != b.order ? a.order > b.order : try hasGreaterKey(a, b)
  }

  private func hasGreaterKey(_ a: Member, _ b: Member) throws(HashFileError) -> Bool {
    if a.number == b.number { return false }
    let (first, second) = (entries[Int(a.number) - 1], entries[Int(b.number) - 1])
    let (key, other) = (try key(of: first), try key(of: second))
    let order = key.lend { key in other.lend { HashFileFormat.compare(key, $0) } }
    if order == 0 {
      throw HashFileError(
        .duplicateKey, "two records have the same key, the other one at \(first.offset)",
        path: path, offset: second.offset)
    }
    return order > 0
  }

  private func key(of entry: Entry) throws(HashFileError) -> [UInt8] {
    let sizes = entry.offset + 4 + 2 * layout.width
    let head = try image.bytes(10, at: sizes)
    var (index, count, shift) = (0, 0, 0)
    while index < head.count, head[index] >= 0x80 {
      count += Int(~head[index]) << shift
      (index, shift) = (index + 1, shift + 7)
    }
    count += Int(head[index]) << shift
    repeat { index += 1 } while index < head.count && head[index] >= 0x80
    return try image.bytes(count, at: sizes + index + 1)
  }

  /// Makes a tree of entries in order, as flat as can be; its root.
  private static func makeTree(
    _ members: [Member], _ range: Range<Int>, _ left: inout [UInt32], _ right: inout [UInt32]
  ) -> UInt32 {
    if range.isEmpty { return 0 }
    let middle = range.lowerBound + (range.count - 1) / 2
    let root = members[middle].number
    if range.count > 1 {
      let greater = makeTree(members, range.lowerBound..<middle, &left, &right)
      let lesser = makeTree(members, middle + 1..<range.upperBound, &left, &right)
      left[Int(root) - 1] = greater
      right[Int(root) - 1] = lesser
    }
    return root
  }

  // MARK: Links

  /// So much of the file is changed at a time.
  private static let part = 4 << 20

  /// Puts the links into the records, part of the file by part.
  private mutating func put(_ links: HashFileLinks) throws(HashFileError) {
    var next = 0
    while next < entries.count {
      let start = entries[next].offset
      let limit = start >= image.tailStart ? .max : min(start + Self.part, image.tailStart)
      var (end, hasLinks) = (next, false)
      while end < entries.count, entries[end].offset < limit {
        hasLinks = hasLinks || links.left[end] != 0 || links.right[end] != 0
        end += 1
      }
      let partEnd = end < entries.count ? entries[end].offset : image.end
      if hasLinks {
        try image.change(start..<partEnd) { links.put(next..<end, into: &$0, $1) }
      }
      next = end
    }
  }
}

/// The links of records, and the roots of buckets, as numbers of entries from 1 on; 0 is none.
struct HashFileLinks {
  var left: [UInt32]
  var right: [UInt32]
  var roots: [UInt32]
  private let entries: [HashFileBuilder.Entry]
  private let layout: HashFileLayout

  init(_ entries: [HashFileBuilder.Entry], _ layout: HashFileLayout) {
    left = [UInt32](repeating: 0, count: entries.count)
    right = left
    roots = [UInt32](repeating: 0, count: layout.bucketCount)
    self.entries = entries
    self.layout = layout
  }

  /// Puts the offset of an entry into bytes.
  @inline(__always)
  func store(_ entry: UInt32, in bytes: inout [UInt8], at place: Int) {
    let offset = UInt64(entries[Int(entry) - 1].offset) >> UInt64(layout.alignmentPower)
    bytes.store(offset, width: layout.width, at: place, layout.byteOrder)
  }

  /// Puts the links of some entries into bytes that begin at an offset of the file.
  func put(_ range: Range<Int>, into bytes: inout [UInt8], _ start: Int) {
    for index in range {
      let place = entries[index].offset + 2 - start
      if left[index] != 0 { store(left[index], in: &bytes, at: place) }
      if right[index] != 0 { store(right[index], in: &bytes, at: place + layout.width) }
    }
  }
}
