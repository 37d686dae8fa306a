import Files

extension HashFileWriter {
  /// The links of a record, and the roots of buckets, as numbers of entries from 1 on; 0 is none.
  private struct Links {
    var left: [UInt32]
    var right: [UInt32]
    var roots: [UInt32]
  }

  /// Makes the trees, puts the links into the records, and makes the part before the first record.
  func complete() throws(HashFileError) -> [UInt8] {
    let links = try makeTrees()
    try put(links)
    var start = HashFileHeader.bytes(layout, recordCount: entries.count, fileSize: image.end)
    start.reserveCapacity(layout.first)
    start += [UInt8](repeating: 0, count: layout.first - start.count)
    for (bucket, root) in links.roots.enumerated() where root != 0 {
      store(root, in: &start, at: HashFileHeader.size + bucket * layout.width)
    }
    return start
  }

  @inline(__always)
  private func store(_ entry: UInt32, in bytes: inout [UInt8], at place: Int) {
    let offset = UInt64(entries[Int(entry) - 1].offset) >> UInt64(layout.alignmentPower)
    bytes.store(offset, width: layout.width, at: place, layout.byteOrder)
  }

  // MARK: Trees

  private func makeTrees() throws(HashFileError) -> Links {
    let none = [UInt32](repeating: 0, count: entries.count)
    let roots = [UInt32](repeating: 0, count: layout.bucketCount)
    var links = Links(left: none, right: none, roots: roots)
    var (members, ends) = entriesByBucket()
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

  /// The numbers of the entries, those of a bucket together, and where each bucket ends among them.
  private func entriesByBucket() -> (members: [UInt32], ends: [UInt32]) {
    var places = [UInt32](repeating: 0, count: layout.bucketCount + 1)
    for entry in entries { places[Int(entry.bucket) + 1] += 1 }
    for bucket in 0..<layout.bucketCount { places[bucket + 1] += places[bucket] }
    var members = [UInt32](repeating: 0, count: entries.count)
    for (index, entry) in entries.enumerated() {
      members[Int(places[Int(entry.bucket)])] = UInt32(index) + 1
      places[Int(entry.bucket)] += 1
    }
    // Each bucket's place has moved on to its end.
    return (members, places)
  }

  /// Puts the greatest key first.
  private func sort(_ members: inout [UInt32], _ range: Range<Int>) throws(HashFileError) {
    do {
      try members[range].sort { try isGreater($0, $1) }
    } catch let error as HashFileError {
      throw error
    } catch {
      throw HashFileError(.ioError, "\(error)", path: path)
    }
  }

  private func isGreater(_ a: UInt32, _ b: UInt32) throws(HashFileError) -> Bool {
    if a == b { return false }
    let (first, second) = (entries[Int(a) - 1], entries[Int(b) - 1])
    if first.order != second.order { return first.order > second.order }
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
    _ members: [UInt32], _ range: Range<Int>, _ left: inout [UInt32], _ right: inout [UInt32]
  ) -> UInt32 {
    if range.isEmpty { return 0 }
    let middle = range.lowerBound + (range.count - 1) / 2
    let root = members[middle]
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
  private func put(_ links: Links) throws(HashFileError) {
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
        try image.change(start..<partEnd) { put(links, of: next..<end, into: &$0, $1) }
      }
      next = end
    }
  }

  private func put(
    _ links: Links, of range: Range<Int>, into bytes: inout [UInt8], _ start: Int
  ) {
    for index in range {
      let place = entries[index].offset + 2 - start
      if links.left[index] != 0 { store(links.left[index], in: &bytes, at: place) }
      if links.right[index] != 0 {
        store(links.right[index], in: &bytes, at: place + layout.width)
      }
    }
  }
}
