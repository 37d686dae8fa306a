package import CDB
import Files
import Foundation
package import StoredObjectsTestSupport
import TestFiles

/// Constant databases of either width.
package struct FuzzedCDB: FuzzedFormat {
  private let format: CDBFormat

  package var name: String { format == .wide ? "cdb-wide" : "cdb" }

  package init(_ format: CDBFormat) {
    self.format = format
  }

  private var width: Int { format == .wide ? 8 : 4 }

  package func makeFile(_ random: inout SeededGenerator) throws -> [UInt8] {
    var records: [(key: [UInt8], value: [UInt8])] = []
    for _ in 0..<Int.random(in: 0...30, using: &random) {
      records.append((bytes(upTo: 3, &random), bytes(upTo: 60, &random)))
    }
    return try withTemporaryDirectory { directory in
      let path = directory + "/fuzzed.cdb"
      let writer = try CDBWriter(path, format: format)
      for record in records { try writer.add(record.value, forKey: record.key) }
      try writer.finish(synchronize: false)
      return [UInt8](try Data(contentsOf: URL(filePath: path)))
    }
  }

  private func bytes(upTo count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: 0...count, using: &random)).map { _ in
      UInt8.random(in: 0...7, using: &random)
    }
  }

  package func fields(of file: [UInt8]) -> [Range<Int>] {
    let header = (0..<512).map { $0 * width..<$0 * width + width }
    // After the header, lengths and slots may begin anywhere.
    let others = stride(from: 512 * width, to: file.count - width, by: 1).map { $0..<$0 + width }
    let tables = stride(from: 512 * width, to: file.count - width, by: width)
      .map { file.count - ($0 - 512 * width) - width }.map { $0..<$0 + width }
    return header + others + tables + tables
  }

  package func read(_ file: [UInt8], _ random: inout SeededGenerator) throws -> Bool {
    guard let reader = try attempt({ try CDBReader(copying: file, format: format) }) else {
      return false
    }
    let isSound = try attempt { try reader.verify() } != nil
    let pairs = try attempt { try records(reader) }
    for _ in 0..<20 {
      let key = bytes(upTo: 3, &random)
      let values = try attempt { try reader.values(forKey: key) }
      let first = try attempt { try reader.value(forKey: key) }
      guard isSound else { continue }
      let expected = pairs?.filter { $0.key == key }.map(\.value)
      if values == nil || values != expected || first != .some(expected?.first) {
        throw FuzzFailure("a sound file has other values than it lists")
      }
    }
    if isSound && pairs?.count != reader.count {
      throw FuzzFailure("a sound file is counted wrongly")
    }
    return isSound
  }

  private func records(_ reader: CDBReader) throws -> [(key: [UInt8], value: [UInt8])] {
    var pairs: [(key: [UInt8], value: [UInt8])] = []
    try reader.forEach { pairs.append(([UInt8](copying: $0), [UInt8](copying: $1))) }
    return pairs
  }

  /// Returns the result of a closure, or nil if the reader refuses the bytes.
  private func attempt<Result>(_ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch let error as CDBError where error.offset != nil { return nil }
  }
}
