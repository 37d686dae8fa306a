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
  /// Where records begin.
  private var starts: [UInt64] = []
  /// Where links and buckets lead.
  private var targets: [UInt64] = []

  /// Reads a file.
  ///
  /// Complexity: O(n log n) in the number of records, linear in the size of the file. Memory: 16
  /// bytes for each record.
  init(_ path: String, className: String) throws {
    reader = try HashFileReader(path)
    place = .init(path: path, className: className)
    if let header = checkHeader() { try checkBlocks(header) }
    guard findings.isEmpty, let header = reader.header else { return }
    try readBuckets(header)
    targets.sort()
    if targets != starts { add("the file's own index does not lead to each record once") }
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
    return findings.isEmpty ? header : nil
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
    let alignment = 1 << Int(min(header.alignmentPower, 16))
    while offset < end {
      guard let block = try reader.block(at: offset), block.end <= end,
        block.end % alignment == 0
      else { return add("there is no record where one should be", at: offset) }
      if block.content != nil {
        starts.append(UInt64(offset))
        if block.links.left != 0 { targets.append(block.links.left) }
        if block.links.right != 0 { targets.append(block.links.right) }
      }
      offset = block.end
    }
    if UInt64(starts.count) != header.recordCount {
      add("it counts \(header.recordCount) records, and has \(starts.count)")
    }
  }

  private mutating func readBuckets(_ header: HashFileHeader) throws {
    let width = reader.isLarge ? 8 : 4
    let end = HashFileHeader.size + Int(clamping: header.bucketCount) * width
    var offset = HashFileHeader.size
    while offset < end {
      guard let entries = try reader.bytes(min(end - offset, 1 << 16), at: offset) else {
        return add("the buckets end too early", at: offset)
      }
      for start in stride(from: entries.startIndex, to: entries.endIndex, by: width) {
        let entry = reader.number(entries[start..<start + width])
        if entry != 0 { targets.append(entry << UInt64(header.alignmentPower)) }
      }
      offset += entries.count
    }
  }
}

extension TokyoCabinetFiles {
  /// Reads the structure of every class file, without the C library.
  ///
  /// Complexity: O(n log n) in the number of records, linear in the size of the files. Memory: 16
  /// bytes for each record of the largest file.
  ///
  /// - Throws: `StoreError` with `ioError` or `closed`.
  public func inspect() throws -> StoreInspection {
    try checkOpen()
    var inspection = StoreInspection(tableNames: [])
    for name in try fileNames().sorted() {
      if name == Names.log || name.hasPrefix(".") { continue }
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
