import Foundation

@testable import StoreEngine

/// The pages of an ordered table's file, to be moved by somebody who knows the format and not the
/// key.
struct OrderedPages {
  /// The range of each page, without its head.
  private(set) var pages: [Range<Int>] = []
  private var bytes: [UInt8]
  private let url: URL

  init(_ path: String) throws {
    url = URL(fileURLWithPath: path)
    bytes = [UInt8](try Data(contentsOf: url))
    var offset = OrderedFileFormat.magic.count
    while offset < bytes.count - OrderedFileFormat.footerSize {
      let size = (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
      pages.append(offset + OrderedFileFormat.pageHeadSize..<offset + size)
      offset += size
    }
  }

  /// Writes the file over another one, with the mark of that.
  func write(inLocationOf other: String) throws {
    let old = URL(fileURLWithPath: other)
    let footer = [UInt8](try Data(contentsOf: old).suffix(OrderedFileFormat.footerSize))
    var new = bytes
    let end = new.count - OrderedFileFormat.footerSize
    let offset = OrderedFileFormat.markOffset
    new.replaceSubrange(end + offset.lowerBound..<end + offset.upperBound, with: footer[offset])
    let checksum = CommitLogFormat.checksum(Array(new[end..<(new.count - 4)]))
    for byte in 0..<4 {
      new[new.count - 4 + byte] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * byte))
    }
    try Data(new).write(to: old)
  }

  /// Exchanges two pages of one size, and makes their checksums right.
  mutating func exchange(_ first: Range<Int>, _ second: Range<Int>) throws {
    let (one, other) = (Array(bytes[first]), Array(bytes[second]))
    for (offset, page) in [(first, other), (second, one)] {
      bytes.replaceSubrange(offset, with: page)
      let start = offset.lowerBound - OrderedFileFormat.pageHeadSize
      let checksum = OrderedFileFormat.checksum(page.span, at: start)
      for byte in 0..<4 {
        bytes[start + 4 + byte] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * byte))
      }
    }
    try Data(bytes).write(to: url)
  }
}
