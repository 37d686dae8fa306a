import Files
public import StoredObjectsCore
import TokyoCabinet

/// Checks the structure of a hash file from its first byte to its last, without the C library.
///
/// Only a file that passes is given to the library: this one knows neither a block that leads out of
/// the file nor a link in a circle, and would end the process or never come back.
struct HashFileInspection {
  private let reader: HashFileReader
  private let place: StoreError.Place
  /// What is wrong; empty for a file that is sound.
  private(set) var findings: [StoreFinding] = []
  /// The records in the order of the file.
  private var records: [Record] = []
  private var freeBlocks: [Range<Int>] = []

  /// What is to be known of a record to find it in the index.
  private struct Record {
    let offset: UInt64
    let left: UInt64
    let right: UInt64
    let bucket: UInt64
    let hash: UInt8
  }

  /// Reads a file.
  ///
  /// Complexity: O(n log n) in the number of records, linear in the size of the file. Memory: 40
  /// bytes for each record.
  init(_ path: String, className: String) throws {
    reader = try HashFileReader(path)
    place = .init(path: path, className: className)
    guard let header = checkHeader() else { return }
    try checkBlocks(header)
    if findings.isEmpty { try checkIndex(header) }
    // Of a file that was not closed the library has not written the list of free blocks.
    if findings.isEmpty, !header.isMarkedOpen { try checkFreeBlockPool(header) }
  }

  /// The header, if it makes enough sense to go on.
  private mutating func checkHeader() -> HashFileHeader? {
    guard let header = reader.header else {
      add("this is no hash file, or its header is destroyed")
      return nil
    }
    if header.type != 0 { add("this is a Tokyo Cabinet file of another kind") }
    if reader.size < Int(clamping: header.fileSize) {
      add("it has been cut off: \(reader.size) of \(header.fileSize) bytes are left")
    }
    if header.isMarkedFatal { add("the C library has marked it so") }
    if !isLaidOut(header) { add("the header's numbers don't fit together") }
    return findings.isEmpty ? header : nil
  }

  /// Whether records begin where the numbers of buckets and free blocks say.
  private func isLaidOut(_ header: HashFileHeader) -> Bool {
    guard header.alignmentPower <= 16, header.freeBlockPower <= 20,
      header.options.rawValue & ~0x0F == 0, header.bucketCount < 1 << 40
    else { return false }
    let alignment = UInt64(1) << UInt64(header.alignmentPower)
    let end =
      UInt64(HashFileHeader.size) + header.bucketCount * (reader.isLarge ? 8 : 4) + 64
      + 4 << UInt64(header.freeBlockPower)
    return header.firstRecord == (end + alignment - 1) / alignment * alignment
  }

  private mutating func add(_ what: String, at offset: Int? = nil) {
    var place = place
    place.offset = offset
    findings.append(
      StoreFinding(.fileDamaged, "The file is damaged: \(what). Salvage the store.", at: place))
  }

  /// Blocks must follow one another up to the end.
  private mutating func checkBlocks(_ header: HashFileHeader) throws {
    var offset = Int(clamping: header.firstRecord)
    let end = Int(clamping: header.fileSize)
    let alignment = 1 << Int(header.alignmentPower)
    while offset < end {
      guard let block = try reader.block(at: offset), block.end <= end,
        block.end % alignment == 0
      else { return add("there is no record where one should be", at: offset) }
      if let content = block.content {
        guard let key = try reader.bytes(content.key.count, at: content.key.lowerBound) else {
          return add("a key is cut off", at: offset)
        }
        records.append(
          Record(
            offset: UInt64(offset), left: block.links.left, right: block.links.right,
            bucket: HashFileReader.firstHash(key) % header.bucketCount,
            hash: HashFileReader.secondHash(key)))
      } else {
        freeBlocks.append(offset..<block.end)
      }
      offset = block.end
    }
    if UInt64(records.count) != header.recordCount {
      add("it counts \(header.recordCount) records, and has \(records.count)")
    }
  }

  // MARK: The index

  /// The buckets and the links from them must lead to each record once, by its own hashes.
  private mutating func checkIndex(_ header: HashFileHeader) throws {
    let width = reader.isLarge ? 8 : 4
    let chunkSize = 512
    var reached = 0
    var bucket: UInt64 = 0
    while bucket < header.bucketCount {
      let count = min(Int(clamping: header.bucketCount - bucket) * width, chunkSize)
      let offset = HashFileHeader.size + Int(bucket) * width
      guard let entries = try reader.bytes(count, at: offset) else {
        return add("the buckets end too early", at: offset)
      }
      if !entries.isAllZero {
        for start in stride(from: entries.startIndex, to: entries.endIndex, by: width) {
          let entry = reader.number(entries[start..<start + width])
          if entry != 0 {
            let number = bucket + UInt64((start - entries.startIndex) / width)
            guard walk(entry << UInt64(header.alignmentPower), number, &reached) else {
              return add(
                "the file's own index leads astray", at: start - entries.startIndex + offset)
            }
          }
        }
      }
      bucket += UInt64(count / width)
    }
    if reached != records.count { add("the file's own index does not lead to each record") }
  }

  /// Follows the tree of a bucket: the greater second hash hangs on the left.
  private func walk(_ root: UInt64, _ bucket: UInt64, _ reached: inout Int) -> Bool {
    var open: [(offset: UInt64, hashes: ClosedRange<UInt8>)] = [(root, 0...255)]
    while let (offset, hashes) = open.popLast() {
      guard let record = record(at: offset), record.bucket == bucket,
        hashes.contains(record.hash), reached < records.count
      else { return false }
      reached += 1
      if record.left != 0 { open.append((record.left, record.hash...hashes.upperBound)) }
      if record.right != 0 { open.append((record.right, hashes.lowerBound...record.hash)) }
    }
    return true
  }

  private func record(at offset: UInt64) -> Record? {
    var (low, high) = (0, records.count)
    while low < high {
      let middle = (low + high) / 2
      if records[middle].offset < offset { low = middle + 1 } else { high = middle }
    }
    return low < records.count && records[low].offset == offset ? records[low] : nil
  }

  // MARK: Free blocks

  /// The list of free blocks must name only bytes that are in no record, and none twice: the library
  /// writes there.
  private mutating func checkFreeBlockPool(_ header: HashFileHeader) throws {
    let start =
      HashFileHeader.size + Int(clamping: header.bucketCount) * (reader.isLarge ? 8 : 4)
    let count = 64 + 4 << Int(header.freeBlockPower)
    guard let pool = try reader.bytes(count, at: start) else {
      return add("the list of free blocks is cut off", at: start)
    }
    let starts = Set(freeBlocks.map(\.lowerBound))
    let ends = Set(freeBlocks.map(\.upperBound))
    var pairs = FreeBlockPool(pool, alignmentPower: Int(header.alignmentPower))
    var last = 0
    while let block = pairs.next() {
      guard block.lowerBound >= last, starts.contains(block.lowerBound),
        ends.contains(block.upperBound), holdsNoRecord(block)
      else { return add("the list of free blocks names bytes that are not free", at: start) }
      last = block.upperBound
    }
    if pairs.isSpoilt { add("the list of free blocks makes no sense", at: start) }
  }

  private func holdsNoRecord(_ range: Range<Int>) -> Bool {
    var (low, high) = (0, records.count)
    while low < high {
      let middle = (low + high) / 2
      if records[middle].offset < UInt64(range.lowerBound) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low == records.count || records[low].offset >= UInt64(range.upperBound)
  }
}

/// The list of free blocks: distances and sizes, in units of the alignment, up to a zero.
private struct FreeBlockPool {
  private let bytes: ArraySlice<UInt8>
  private let power: Int
  private var index: Int
  private var offset = 0
  private(set) var isSpoilt = false

  init(_ bytes: ArraySlice<UInt8>, alignmentPower: Int) {
    self.bytes = bytes
    power = alignmentPower
    index = bytes.startIndex
  }

  mutating func next() -> Range<Int>? {
    guard index < bytes.endIndex, bytes[index] != 0 else { return nil }
    guard let distance = number(), let size = number(), size > 0 else {
      isSpoilt = true
      return nil
    }
    offset += distance << power
    return offset..<offset + size << power
  }

  private mutating func number() -> Int? {
    var (number, shift) = (0, 0)
    while index < bytes.endIndex, shift < 42 {
      let byte = bytes[index]
      index += 1
      if byte < 0x80 { return number + Int(byte) << shift }
      number += Int(~byte) << shift
      shift += 7
    }
    return nil
  }
}

extension TokyoCabinetFiles {
  /// Reads the structure of every class file, without the C library.
  ///
  /// Complexity: O(n log n) in the number of records, linear in the size of the files. Memory: 40
  /// bytes for each record of the largest file.
  ///
  /// - Throws: `StoreError` with `ioError` or `closed`.
  public func inspect() throws -> StoreInspection {
    try checkOpen()
    var inspection = StoreInspection(tableNames: [])
    for name in try fileNames().sorted() {
      if name == Names.log || name == Names.manifest || name.hasPrefix(".") { continue }
      try inspect(name, &inspection)
    }
    return inspection
  }

  private func inspect(_ name: String, _ inspection: inout StoreInspection) throws {
    let path = path(of: name)
    guard name == Names.buffers || Names.isTable(name), isRegularFile(path) else {
      inspection.findings.append(.foreign(path, "It can't be the file of a class: move it away."))
      return
    }
    do {
      let findings = try findings(name, path)
      inspection.findings += findings
      if name == Names.buffers {
        inspection.hasReadableBuffers = findings.isEmpty
      } else if findings.isEmpty {
        inspection.tableNames.append(name)
      }
    } catch {
      inspection.findings.append(
        StoreFinding(.fileDamaged, error, at: .init(path: path, className: name)))
      if name == Names.buffers { inspection.hasReadableBuffers = false }
    }
  }

  private func findings(_ name: String, _ path: String) throws -> [StoreFinding] {
    let inspection = try HashFileInspection(path, className: name)
    guard inspection.findings.isEmpty, name != Names.buffers else { return inspection.findings }
    // The library's word on what only it can see, such as the byte order it was built for.
    _ = try table(named: name)
    return []
  }
}

extension StoreFinding {
  static func foreign(_ path: String, _ message: String) -> StoreFinding {
    StoreFinding(.foreignFile, message, at: .init(path: path))
  }
}
