/// A record among those of its bucket.
struct HashFileMember {
  /// The first part of the record's sort key.
  let order: UInt64
  /// The number of the record, from 1.
  let number: UInt32
}

/// The offsets of records, their links, and the roots of buckets.
///
/// Links and roots are numbers of records, from 1; 0 means none.
struct HashFileLinks {
  /// The offset of each record, followed by the end of the last one.
  let offsets: AlignedOffsets
  private(set) var children: [Children]
  var roots: [UInt32]

  /// The links of one record.
  struct Children {
    var left: UInt32 = 0
    var right: UInt32 = 0
  }

  init(_ offsets: consuming AlignedOffsets, _ end: Int, _ layout: HashFileLayout) {
    children = [Children](repeating: Children(), count: offsets.count)
    offsets.append(end)
    self.offsets = offsets
    roots = [UInt32](repeating: 0, count: layout.bucketCount)
  }

  /// Links the records of each bucket to a list.
  ///
  /// The root of a bucket is its last record, and the left link of a record leads to the one before
  /// it.
  mutating func chain(_ keys: PlannedKeys) {
    for number in numbers {
      let bucket = bucket(of: number, keys)
      children[Int(number) - 1].left = roots[bucket]
      roots[bucket] = number
    }
  }

  /// The numbers of all records.
  var numbers: Range<UInt32> { 1..<UInt32(children.count) + 1 }

  /// Returns the bucket of a record.
  @inline(__always)
  func bucket(of number: UInt32, _ keys: PlannedKeys) -> Int {
    Int(keys.firstHash(number) % UInt64(roots.count))
  }

  /// Whether a record is the last of several in its bucket, which is still a list.
  @inline(__always)
  func isTreeless(_ bucket: Int, _ number: UInt32) -> Bool {
    roots[bucket] == number && children[Int(number) - 1].left != 0
  }

  /// Collects the records of a list in an array.
  func chained(from last: UInt32, _ keys: PlannedKeys, _ members: inout [HashFileMember]) {
    members.removeAll(keepingCapacity: true)
    var number = last
    while number != 0 {
      members.append(HashFileMember(order: keys.order(number), number: number))
      number = children[Int(number) - 1].left
    }
  }

  /// Returns the offset of a record; 0 for none.
  @inline(__always)
  func offset(of number: UInt32) -> Int { number == 0 ? 0 : offsets[Int(number) - 1] }

  /// Builds a tree of sorted records, as flat as possible, and returns its root.
  mutating func makeTree(_ members: [HashFileMember], _ range: Range<Int>) -> UInt32 {
    if range.isEmpty { return 0 }
    let middle = range.lowerBound + (range.count - 1) / 2
    let root = members[middle].number
    let greater = makeTree(members, range.lowerBound..<middle)
    let lesser = makeTree(members, middle + 1..<range.upperBound)
    children[Int(root) - 1] = Children(left: greater, right: lesser)
    return root
  }
}
