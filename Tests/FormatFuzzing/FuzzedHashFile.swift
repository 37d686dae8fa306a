import Files
package import StoredObjectsTestSupport
import TokyoCabinetFile

/// Hash files of Tokyo Cabinet.
package struct FuzzedHashFile: FuzzedFormat {
  package let name = "hash-file"

  package init() {}

  package func makeFile(_ random: inout SeededGenerator) throws -> [UInt8] {
    let layout = HashFileLayout(
      byteOrder: Bool.random(using: &random) ? .big : .little,
      bucketCount: Int.random(in: 1...20, using: &random),
      alignmentPower: [0, 2, 4, 8].randomElement(using: &random) ?? 4,
      freeBlockPower: .random(in: 0...3, using: &random),
      options: [[], [], .large, .deflate, [.large, .deflate]].randomElement(using: &random) ?? [])
    var records: [[UInt8]: [UInt8]] = [:]
    for _ in 0..<Int.random(in: 0...40, using: &random) {
      records[bytes(upTo: 6, &random)] = bytes(upTo: 200, &random)
    }
    let sorted = records.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    return try HashFileWriter.bytes(
      layout: layout, records: sorted.map { (key: $0.key, value: $0.value) })
  }

  private func bytes(upTo count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: 0...count, using: &random)).map { _ in
      UInt8.random(in: 0 ... .max, using: &random)
    }
  }

  package func fields(of file: [UInt8]) -> [Range<Int>] {
    let header =
      [32..<33, 33..<34, 34..<35, 35..<36, 36..<37]
      + stride(from: 40, to: 72, by: 8).map { $0..<$0 + 8 }
    guard file.count >= 256 else { return [] }
    let width = file[36] & 1 == 1 ? 8 : 4
    let buckets = stride(from: 256, to: min(file.count - width, 256 + 20 * width), by: width)
      .map { $0..<$0 + width }
    // Marks are at the beginnings of records, and elsewhere by chance, which does no harm.
    let marks = file.indices.dropFirst(256).filter { file[$0] == 0xC8 || file[$0] == 0xB0 }
    let records = marks.flatMap { mark in
      let links = mark + 2
      let padding = links + 2 * width
      return [
        mark..<mark + 1, mark + 1..<mark + 2, links..<links + width,
        links + width..<padding, padding..<padding + 2, padding + 2..<padding + 3,
        padding + 3..<padding + 4, padding + 2..<padding + 7, mark + 1..<mark + 5,
      ]
    }
    return header + buckets + records
  }

  package func read(_ file: [UInt8], _ random: inout SeededGenerator) throws -> Bool {
    do {
      let hashFile = try HashFile(bytes: file)
      let check = hashFile.check()
      try salvage(file, hashFile, isSound: check.isSound)
      let keys = try readAll(hashFile, mustSucceed: check.isSound)
      for _ in 0..<20 { _ = try? hashFile.value(forKey: bytes(upTo: 6, &random)) }
      if check.isSound && UInt64(keys.count) != hashFile.header.recordCount {
        throw FuzzFailure("a sound file of \(hashFile.count) records has \(keys.count)")
      }
      return check.isSound
    } catch is HashFileError {
      var salvage = HashFileSalvage(bytes: file)
      salvage.run { _, _, _ in }
      return false
    }
  }

  /// Salvages a file; of a sound file nothing may be missing.
  private func salvage(_ bytes: [UInt8], _ file: HashFile, isSound: Bool) throws {
    var salvage = HashFileSalvage(bytes: bytes)
    var count = 0
    salvage.run { _, _, _ in count += 1 }
    let isWhole = salvage.gaps.isEmpty && count + salvage.unreadableCount == file.count
    if isSound && !isWhole { throw FuzzFailure("a salvage misses records of a sound file") }
  }

  /// Scans, looks up all keys, and lists free blocks; with a sound file none of that may fail.
  private func readAll(_ file: HashFile, mustSucceed: Bool) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    try attempt(mustSucceed) { try file.forEachKey { keys.append([UInt8](copying: $0)) } }
    try attempt(mustSucceed) { _ = try file.freeBlocks() }
    try attempt(mustSucceed && !file.header.isMarkedOpen) { _ = try file.freeBlockPool() }
    // Compressed data can be damaged although the structure is sound.
    try attempt(mustSucceed && !file.isCompressed) { try file.forEach { _, _ in } }
    for key in keys.prefix(200) {
      try attempt(mustSucceed) {
        let isThere = try key.lend { try file.contains($0) }
        if mustSucceed && !isThere { throw FuzzFailure("a key of a sound file is not found") }
        if !file.isCompressed { _ = try file.value(forKey: key) }
      }
    }
    return keys
  }

  private func attempt(_ mustSucceed: Bool, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as HashFileError where mustSucceed {
      throw FuzzFailure("the check found nothing in a file that can't be read: \(error)")
    } catch is HashFileError {}
  }
}
