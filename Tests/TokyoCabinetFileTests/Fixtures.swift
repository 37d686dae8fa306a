import Files
import StoredObjectsTestSupport
import TestFiles
import TokyoCabinet
import TokyoCabinetFile

typealias Records = [[UInt8]: [UInt8]]

/// Helpers of the tests of hash files.
enum Fixtures {
  /// Records with keys of a row's 4 bytes, or of any size, and values of any size, some large.
  static func records(_ count: Int, _ random: inout SeededGenerator) -> Records {
    var records: Records = [:]
    let hasRowKeys = Bool.random(using: &random)
    for row in 0..<UInt32(count) {
      let key = hasRowKeys ? key(row) : bytes(upTo: row % 10 == 0 ? 300 : 8, &random)
      records[key] = bytes(upTo: row % 100 == 0 ? 80_000 : 100, &random)
    }
    return records
  }

  static func bytes(upTo count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    let letters = UInt8.random(in: 1 ... .max, using: &random)
    return (0..<Int.random(in: 0...count, using: &random)).map { _ in
      UInt8.random(in: 0...letters, using: &random)
    }
  }

  /// A number as the 4 bytes of a key, least significant first.
  static func key(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  /// Layouts of every kind: few buckets, so that keys share them, and many.
  static let tunings: [Tuning] = [0, 4, 8].flatMap { power in
    [7, 131_071].flatMap { buckets in
      [[], .large, .deflate, [.large, .deflate]].map { options in
        Tuning(
          bucketCount: buckets, alignmentPower: power, freeBlockPower: power, options: options)
      }
    }
  }

  static let layouts: [HashFileLayout] = tunings.flatMap { tuning in
    HashFileHeader.ByteOrder.allCases.map { order in
      HashFileLayout(
        byteOrder: order, bucketCount: Int(tuning.bucketCount),
        alignmentPower: UInt8(tuning.alignmentPower), freeBlockPower: UInt8(tuning.freeBlockPower),
        options: tuning.options)
    }
  }

  /// The byte order of the C library here.
  static let libraryOrder = try? withTemporaryDirectory { directory in
    try HashDatabase(path: directory + "/a").close()
    return try HashFile(directory + "/a").header.byteOrder
  }

  /// Everything that a scan lends; nil when a key comes twice.
  static func scanned(_ file: HashFile) throws -> Records? {
    var records: Records = [:]
    var count = 0
    try file.forEach { key, value in
      records[[UInt8](copying: key)] = [UInt8](copying: value)
      count += 1
    }
    return records.count == count ? records : nil
  }

  /// Writes a file of our own.
  static func write(
    _ records: Records, _ layout: HashFileLayout, to path: String
  ) throws {
    try HashFileWriter.write(
      path, layout: layout, records: records.map { ($0.key, $0.value) }, synchronized: false)
  }
}
