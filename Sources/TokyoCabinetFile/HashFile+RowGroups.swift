import Files

// Looking up many rows side by side. Each step on the way to a record waits for memory; the steps of
// several rows don't depend on each other, so that the processor waits for them at the same time.

extension HashFile {
  /// A row on the way to its record.
  private struct LookUp {
    /// Where the row is among those of the group.
    var index = 0
    /// The key as it stands in the file, read with the most significant byte first.
    var word: UInt32 = 0
    var secondHash: UInt8 = 0
    /// The next record on the way; 0 behind the last one.
    var offset = 0
  }

  /// The rows that are looked up side by side: about as many as there are reads from memory that a
  /// core can have under way.
  private typealias Group = InlineArray<16, LookUp>
  static var groupSize: Int { Group.count }

  /// A tree that is deeper is walked alone, which notices circles.
  private static let stepLimit = 64

  /// Returns which rows have a record.
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
