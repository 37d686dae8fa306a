import Files

// Looking up many rows in parallel. Each step on the path to a record waits for memory. The steps
// of several rows are independent, so the processor can wait for them at the same time.

extension HashFile {
  /// A row on the path to its record.
  private struct LookUp {
    /// The index of the row in the group.
    var index = 0
    /// The key in the file, read as a big-endian number.
    var word: UInt32 = 0
    var secondHash: UInt8 = 0
    /// The offset of the next record on the path; 0 after the last.
    var offset = 0
  }

  /// The rows that are looked up in parallel.
  ///
  /// Their number is about the number of memory reads that a core can have in progress.
  private typealias Group = InlineArray<16, LookUp>
  static var groupSize: Int { Group.count }

  /// The depth from which a tree is searched separately, in a way that detects cycles.
  private static let stepLimit = 64

  /// Returns for each of the given rows whether it has a record.
  ///
  /// Complexity: linear in the number of rows, on average.
  ///
  /// - Throws: ``HashFileError`` with `damaged`.
  package func contains(rows: [UInt32]) throws(HashFileError) -> [Bool] {
    try file.withBytes { (bytes) throws(HashFileError) in
      var found: [Bool] = []
      found.reserveCapacity(rows.count)
      for start in stride(from: 0, to: rows.count, by: Self.groupSize) {
        let group = rows[start..<min(start + Self.groupSize, rows.count)]
        for record in try find(rows: group, in: bytes) { found.append(record != nil) }
      }
      return found
    }
  }

  /// Returns the records of at most ``groupSize`` rows, in the order of the rows.
  ///
  /// - Throws: ``HashFileError`` with `damaged`.
  func find(
    rows: ArraySlice<UInt32>, in bytes: RawSpan
  ) throws(HashFileError) -> [HashFileBlock?] {
    var records = [HashFileBlock?](repeating: nil, count: rows.count)
    var lookUps = beginLookUps(rows, bytes)
    var openCount = rows.count
    for _ in 0..<Self.stepLimit where openCount > 0 {
      var stillOpen = 0
      for index in 0..<openCount {
        var lookUp = lookUps[index]
        if lookUp.offset == 0 { continue }
        let word = lookUp.word
        let record = try step(&lookUp.offset, lookUp.secondHash, bytes) { record in
          Self.order(of: word, record, bytes)
        }
        if let record {
          records[lookUp.index] = record
        } else {
          lookUps[stillOpen] = lookUp
          stillOpen += 1
        }
      }
      openCount = stillOpen
    }
    for index in 0..<openCount {
      let lookUp = lookUps[index]
      records[lookUp.index] = try find(row: lookUp.word.byteSwapped, in: bytes)
    }
    return records
  }

  private func beginLookUps(_ rows: ArraySlice<UInt32>, _ bytes: RawSpan) -> Group {
    var lookUps = Group(repeating: LookUp())
    for (index, row) in rows.enumerated() {
      let word = row.byteSwapped
      let hashes = HashFileFormat.hashes(ofBigEndian: word)
      lookUps[index] = LookUp(
        index: index, word: word, secondHash: hashes.second,
        offset: geometry.root(ofBucket: hashes.first % geometry.bucketCount, in: bytes))
    }
    return lookUps
  }
}
