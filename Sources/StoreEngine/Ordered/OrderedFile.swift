package import Files
import Locks
import Synchronization

/// The file of an ordered table, open for reading.
///
/// It is never written in place, so a reader is not disturbed when another file takes its name.
/// Safe on any thread.
package final class OrderedFile: Sendable {
  typealias Child = OrderedFileFormat.Child

  /// The number of keys.
  package let count: Int
  let path: String
  var byteCount: Int { file.count }
  let footer: OrderedFileFormat.Footer
  let file: MappedFile
  let codec: (any OrderedPageCodec)?
  /// The pages that the codec has opened; nil if pages are stored unsealed.
  ///
  /// It is tested before the codec, because copying a reference to the codec takes time.
  let opened: OpenedPages?
  private let verified: VerifiedPages
  private let directory = SetOnce<PageDirectory>()
  /// The maximum size of the directory.
  private let directoryLimit: Int
  /// The number of look-ups before the directory is made.
  private let lookUpCount = Atomic(0)
  /// The filter of a run, once it has been read.
  let filter = SetOnce<StoredFilter>()

  /// Reads the footer of a file, which may have any content.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  init(
    any file: MappedFile, codec: (any OrderedPageCodec)?,
    directoryLimit: Int = PageDirectory.limit
  ) throws(StoreError) {
    let size = file.count
    let start = OrderedFileFormat.magic.count
    let bytes = file.withBytes { bytes in
      guard size >= start + OrderedFileFormat.footerSize,
        [UInt8](copying: bytes.extracting(0..<start)) == OrderedFileFormat.magic
      else { return [UInt8]() }
      return [UInt8](copying: bytes.extracting(size - OrderedFileFormat.footerSize..<size))
    }
    guard let footer = OrderedFileFormat.Footer(bytes, fileSize: size) else {
      throw Self.damage(
        "It is not the file of an ordered table, or it was cut off", 0, file.path)
    }
    (self.file, self.codec, self.footer, path) = (file, codec, footer, file.path)
    self.directoryLimit = directoryLimit
    opened = codec == nil ? nil : OpenedPages()
    count = footer.count
    verified = VerifiedPages(fileSize: size)
    file.expect(.random)
  }

  /// Reads the footer of a file with the keys of a table.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  package convenience init(
    _ file: MappedFile, codec: (any OrderedPageCodec)?
  ) throws(StoreError) {
    try self.init(any: file, codec: codec)
    guard footer.content == .keys else {
      throw damage("It is a part of a table, and not the whole table", at: 0)
    }
  }

  private static func damage(_ what: String, _ offset: Int, _ path: String) -> StoreError {
    StoreError(.damaged, "\(what).", at: .init(path: path, offset: offset))
  }

  /// Returns the error for an invalid page.
  package func damage(_ what: String, at offset: Int) -> StoreError {
    Self.damage(what, offset, path)
  }

  /// Returns the page from which a search for a key begins, and its level.
  ///
  /// A file that is searched often gets a directory, if it is not sealed, once look-ups save more
  /// time than that takes.
  func start(for key: RawSpan) -> (page: Child, level: Int) {
    if let found = directory.withObject({ ($0.page(for: key), $0.level) }) { return found }
    makeDirectoryIfDue()
    return (footer.root, Int(footer.depth) - 1)
  }

  private func makeDirectoryIfDue() {
    let due = Swift.max(256, byteCount >> 15)
    // With a page above the leaves, or none, there is nothing to gain.
    guard footer.depth > 2, opened == nil, lookUpCount.load(ordering: .relaxed) < due,
      lookUpCount.wrappingAdd(1, ordering: .relaxed).newValue == due,
      let made = try? PageDirectory(self, limit: directoryLimit)
    else { return }
    directory.setIfNil(made)
  }

  // MARK: Pages

  /// Calls a closure with a verified page.
  ///
  /// - Throws: ``StoreError`` with `damaged`, or an error of the closure.
  func withPage<Result>(
    _ node: Child, level: Int, _ body: (OrderedPage, RawSpan) throws -> Result
  ) throws(StoreError) -> Result {
    try file.withBytes { (bytes) throws(StoreError) in
      let stored = bytes.extracting(try check(node, bytes))
      guard let opened, let codec else { return try open(stored, node, level, body) }
      let page = try opened.page(at: node.offset, level: level) { () throws(StoreError) in
        try codec.open(stored, at: node.offset)
      }
      return try page.lend { (page) throws(StoreError) in try open(page, node, level, body) }
    }
  }

  func open<Result>(
    _ page: RawSpan, _ node: Child, _ level: Int,
    _ body: (OrderedPage, RawSpan) throws -> Result
  ) throws(StoreError) -> Result {
    do {
      let numbers = try OrderedPage(page)
      guard numbers.level == level else { throw OrderedPage.Damage(offset: 2) }
      return try body(numbers, page)
    } catch let error as StoreError {
      throw error
    } catch {
      throw damage(
        "A page is damaged", at: node.offset + ((error as? OrderedPage.Damage)?.offset ?? 0))
    }
  }

  /// Returns the range of a page's bytes after its head, and verifies its checksum the first time.
  @inline(__always)
  func check(_ node: Child, _ bytes: RawSpan) throws(StoreError) -> Range<Int> {
    let range = try range(of: node, bytes)
    if !verified.contains(node.offset) { try verify(node, bytes) }
    return range
  }

  /// Returns the range of a page's bytes after its head, if it is in the file.
  @inline(__always)
  func range(of node: Child, _ bytes: RawSpan) throws(StoreError) -> Range<Int> {
    let head = OrderedFileFormat.pageHeadSize
    guard node.offset >= OrderedFileFormat.magicSize, node.size > head,
      node.size <= bytes.byteCount, node.offset <= bytes.byteCount - node.size,
      node.rank <= count
    else { throw damage("A page is named that is not in the file", at: node.offset) }
    return node.offset + head..<node.offset + node.size
  }

  private func verify(_ node: Child, _ bytes: RawSpan) throws(StoreError) {
    let start = node.offset + OrderedFileFormat.pageHeadSize
    let stored = bytes.extracting(start..<node.offset + node.size)
    let checksum = OrderedFileFormat.checksum(Span<UInt8>(_bytes: stored), at: node.offset)
    guard Int(bytes.loadUInt32(at: node.offset, isBigEndian: false)) == node.size,
      bytes.loadUInt32(at: node.offset + 4, isBigEndian: false) == checksum
    else { throw damage("The checksum of a page is wrong", at: node.offset) }
    verified.insert(node.offset)
  }
}
