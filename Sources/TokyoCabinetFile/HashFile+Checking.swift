import Files

extension HashFile {
  /// Checks the whole structure.
  ///
  /// It verifies the counts of the header, every block from the first to the end of the file, and the
  /// free-block pool. The tree of each bucket must be in order, and contain only records of this
  /// bucket. Every record must be in exactly one tree. After a problem, the check continues if
  /// possible.
  ///
  /// A file that a writer has left open (``HashFileHeader/isMarkedOpen``) is not a finding.
  ///
  /// Complexity: linear in the size of the file. It needs memory for two bits for each offset at
  /// which a record could begin.
  public func check() -> HashFileCheck {
    file.withBytes { bytes in
      var walk = HashFileWalk(self)
      walk.checkHeader()
      walk.checkBlocks(bytes)
      walk.checkIndex(bytes)
      walk.checkPool(bytes)
      return walk.check
    }
  }
}

/// A check in progress.
struct HashFileWalk {
  private let hashFile: HashFile
  private let geometry: HashFileGeometry
  private(set) var check = HashFileCheck()
  /// The offsets of records.
  private var records: OffsetSet
  private var freeBlocks: OffsetSet
  /// The records that were found in no tree yet.
  private var unreached: OffsetSet
  /// Whether the chain of blocks is intact to its end.
  private var isChainWhole = false

  init(_ hashFile: HashFile) {
    self.hashFile = hashFile
    geometry = hashFile.geometry
    records = OffsetSet(hashFile.geometry)
    freeBlocks = records
    unreached = records
  }

  mutating func checkHeader() {
    let header = hashFile.header
    if header.isMarkedFatal {
      check.add(.header, "the C library has marked the file as damaged", at: 33)
    }
    if header.freeBlockPower > HashFileFormat.freeBlockPowerLimit {
      check.add(.header, "the free-block power is \(header.freeBlockPower)", at: 35)
    }
    if header.options.rawValue & ~0x1F != 0 {
      check.add(.header, "there are unknown options", at: 36)
    }
    if geometry.first != hashFile.layout.first {
      check.add(.header, "the first block is not where the numbers of the header put it", at: 64)
    }
    if !geometry.isAligned(geometry.end) { check.add(.header, "the size is not aligned", at: 56) }
  }

  // MARK: Blocks

  mutating func checkBlocks(_ bytes: RawSpan) {
    var offset = geometry.first
    while offset < geometry.end {
      do {
        let block = try geometry.block(in: bytes, at: offset)
        guard geometry.isAligned(block.end) else {
          return check.add(.blocks, "a block does not end where another can begin", at: offset)
        }
        note(block)
        offset = block.end
      } catch {
        return check.add(.blocks, error.message, at: offset)
      }
    }
    isChainWhole = true
    if UInt64(check.recordCount) != hashFile.header.recordCount {
      check.add(
        .header,
        "the header counts \(hashFile.header.recordCount) records; there are \(check.recordCount)",
        at: 48)
    }
  }

  private mutating func note(_ block: HashFileBlock) {
    if block.isRecord {
      records.insert(block.offset)
      check.recordCount += 1
      check.unusedByteCount += block.end - block.value.upperBound
    } else {
      freeBlocks.insert(block.offset)
      check.freeBlockCount += 1
      check.unusedByteCount += block.end - block.offset
    }
  }

  // MARK: Index

  mutating func checkIndex(_ bytes: RawSpan) {
    var tree = HashFileTree(geometry)
    unreached = records
    for bucket in 0..<geometry.bucketCount {
      let root = geometry.root(ofBucket: bucket, in: bytes)
      guard root != 0 else { continue }
      check.usedBucketCount += 1
      if let fault = tree.walk(bucket, root, bytes, records, &unreached) {
        check.add(.index, "in bucket \(bucket), \(fault.message)", at: fault.offset)
      }
      check.greatestDepth = max(check.greatestDepth, tree.depth)
    }
    // After a problem in the chain, the set of records is unknown.
    guard isChainWhole else { return }
    if let lost = unreached.first {
      check.add(.index, "\(unreached.count) records are in no bucket", at: lost)
    }
  }

  // MARK: Pool

  mutating func checkPool(_ bytes: RawSpan) {
    do {
      // While a writer has the file open, the list is in the writer's memory.
      if hashFile.header.isMarkedOpen { return }
      var last = 0
      for entry in try hashFile.freeBlockPool() where isChainWhole {
        if entry.offset < last || !isFree(entry, bytes) {
          return check.add(
            .pool, "the free-block pool names a part that is not free", at: entry.offset)
        }
        last = entry.offset + entry.size
      }
    } catch {
      check.add(.pool, error.message, at: error.offset)
    }
  }

  /// Whether an entry covers exactly one free block, or several adjacent ones.
  private func isFree(_ entry: HashFile.FreeBlock, _ bytes: RawSpan) -> Bool {
    var offset = entry.offset
    let end = entry.offset + entry.size
    while offset < end {
      guard freeBlocks.contains(offset), let block = try? geometry.block(in: bytes, at: offset)
      else { return false }
      offset = block.end
    }
    return offset == end && entry.size > 0
  }
}

extension HashFileGeometry {
  func isAligned(_ offset: Int) -> Bool { offset & (1 << Int(alignmentPower) - 1) == 0 }
}
