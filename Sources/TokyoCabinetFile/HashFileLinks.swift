/// Records by their buckets.
struct HashFileGrouping {
  /// A record among those of its bucket.
  struct Member {
    /// What decides on its place, as far as that goes.
    let order: UInt64
    /// The number of the record, from 1 on.
    let number: UInt32
  }

  /// The numbers of the records, those of a bucket together.
  private var numbers: [UInt32]
  /// Where each bucket ends among them.
  private var ends: [UInt32]

  init(_ keys: PlannedKeys, _ count: Int, _ bucketCount: Int) {
    let divisor = UInt64(bucketCount)
    ends = [UInt32](repeating: 0, count: bucketCount + 1)
    numbers = [UInt32](repeating: 0, count: count)
    for index in 0..<count {
      ends[Int(keys.firstHash(UInt32(index) + 1) % divisor) + 1] += 1
    }
    for bucket in 0..<bucketCount { ends[bucket + 1] += ends[bucket] }
    for index in 0..<count {
      let number = UInt32(index) + 1
      let bucket = Int(keys.firstHash(number) % divisor)
      numbers[Int(ends[bucket])] = number
      // Each bucket's beginning moves on to its end.
      ends[bucket] += 1
    }
  }

  /// Puts the records of a bucket into an array.
  func members(of bucket: Int, _ keys: PlannedKeys, _ members: inout [Member]) {
    members.removeAll(keepingCapacity: true)
    for index in (bucket == 0 ? 0 : ends[bucket - 1])..<ends[bucket] {
      let number = numbers[Int(index)]
      members.append(Member(order: keys.order(number), number: number))
    }
  }
}

/// Where records are, their links, and the roots of buckets.
///
/// Links and roots are numbers of records from 1 on; 0 is none.
struct HashFileLinks {
  /// Where each record begins, and the last one ends.
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

  /// Where a record begins; 0 for none.
  @inline(__always)
  func offset(of number: UInt32) -> Int { number == 0 ? 0 : offsets[Int(number) - 1] }

  /// Makes a tree of records in order, as flat as can be; its root.
  mutating func makeTree(_ members: [HashFileGrouping.Member], _ range: Range<Int>) -> UInt32 {
    if range.isEmpty { return 0 }
    let middle = range.lowerBound + (range.count - 1) / 2
    let root = members[middle].number
    if range.count > 1 {
      let greater = makeTree(members, range.lowerBound..<middle)
      let lesser = makeTree(members, middle + 1..<range.upperBound)
      children[Int(root) - 1] = Children(left: greater, right: lesser)
    }
    return root
  }
}
