package import Files

/// The file of an ordered table, open for reading.
///
/// It is never written in place, so that who has begun to read it goes on undisturbed when another takes
/// its name. Safe on any threads.
package final class OrderedFile: Sendable {
  typealias Child = OrderedFileFormat.Child

  /// The number of keys.
  package let count: Int
  let path: String
  var byteCount: Int { file.count }
  let footer: OrderedFileFormat.Footer
  private let file: MappedFile
  private let codec: (any OrderedPageCodec)?
  /// What the codec has opened; nil where pages are stored as they are.
  ///
  /// It is asked first, as a codec takes time to pass on.
  private let opened: OpenedPages?
  private let verified: VerifiedPages

  /// Reads the footer of a file.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  package init(_ file: MappedFile, codec: (any OrderedPageCodec)?) throws {
    let size = file.count
    let start = OrderedFileFormat.magic.count
    let bytes = file.withBytes { bytes in
      guard size >= start + OrderedFileFormat.footerSize,
        [UInt8](copying: bytes.extracting(0..<start)) == OrderedFileFormat.magic
      else { return [UInt8]() }
      return [UInt8](copying: bytes.extracting(size - OrderedFileFormat.footerSize..<size))
    }
    guard let footer = OrderedFileFormat.Footer(bytes, fileSize: size) else {
      throw Self.damage("It is no file of an ordered table, or has been cut off", 0, file.path)
    }
    (self.file, self.codec, self.footer, path) = (file, codec, footer, file.path)
    opened = codec == nil ? nil : OpenedPages()
    count = footer.count
    verified = VerifiedPages(fileSize: size)
    file.expect(.random)
  }

  private static func damage(_ what: String, _ offset: Int, _ path: String) -> StoreError {
    StoreError(.damaged, "\(what).", at: .init(path: path, offset: offset))
  }

  /// The error of a page that makes no sense.
  func damage(_ what: String, at offset: Int) -> StoreError { Self.damage(what, offset, path) }

  // MARK: Pages

  /// Lends a page, verified.
  ///
  /// - Throws: ``StoreError`` with `damaged`; what the closure throws.
  func withPage<Result>(
    _ place: Child, level: Int, _ body: (OrderedPage, RawSpan) throws -> Result
  ) throws -> Result {
    let head = OrderedFileFormat.pageHeadSize
    guard place.offset >= OrderedFileFormat.magic.count, place.size > head,
      place.size <= file.count, place.offset <= file.count - place.size
    else { throw damage("A page is named that is not in the file", at: place.offset) }
    return try file.withBytes { bytes in
      let stored = bytes.extracting(place.offset + head..<place.offset + place.size)
      try verify(bytes.extracting(place.offset..<place.offset + head), stored, place)
      guard let opened, let codec else { return try open(stored, place, level, body) }
      let page = try opened.page(at: place.offset, level: level) {
        try codec.open(stored, at: place.offset)
      }
      return try page.lend { try open($0, place, level, body) }
    }
  }

  private func open<Result>(
    _ page: RawSpan, _ place: Child, _ level: Int,
    _ body: (OrderedPage, RawSpan) throws -> Result
  ) throws -> Result {
    do {
      let numbers = try OrderedPage(page)
      guard numbers.level == level else { throw OrderedPage.Damage(offset: 2) }
      return try body(numbers, page)
    } catch let error as OrderedPage.Damage {
      throw damage("A page makes no sense", at: place.offset + error.offset)
    }
  }

  /// Compares the checksum of a page, once.
  private func verify(_ head: RawSpan, _ stored: RawSpan, _ place: Child) throws {
    if verified.contains(place.offset) { return }
    let checksum = OrderedFileFormat.checksum(Span<UInt8>(_bytes: stored), at: place.offset)
    guard Int(head.loadUInt32(at: 0, isBigEndian: false)) == place.size,
      head.loadUInt32(at: 4, isBigEndian: false) == checksum
    else { throw damage("The checksum of a page is wrong", at: place.offset) }
    verified.insert(place.offset)
  }

  // MARK: Looking up

  /// Lends the value of a key.
  ///
  /// Complexity: O(log n).
  ///
  /// - Returns: what the closure returns; nil when there is no such key.
  package func withValue<Result>(
    _ key: RawSpan, _ body: (RawSpan) throws -> Result
  ) throws -> Result? {
    try withLeaf(for: key) { _, page, bytes in
      let index = try page.bound(key, passingEqual: false, bytes)
      guard index < page.count else { return nil }
      let (rest, value) = try page.entry(index, bytes)
      guard page.prefix.count + rest.count == key.byteCount,
        // What is not before the key, and as long: the same, if the rest is.
        bytes.extracting(rest).hasSameBytes(
          as: key.extracting(page.prefix.count..<key.byteCount)),
        bytes.extracting(page.prefix).hasSameBytes(as: key.extracting(0..<page.prefix.count))
      else { return nil }
      return try body(bytes.extracting(value))
    }
  }

  /// The number of keys before a key.
  ///
  /// Complexity: O(log n).
  package func rank(of key: RawSpan) throws -> Int {
    try withLeaf(for: key) { place, page, bytes in
      place.rank + (try page.bound(key, passingEqual: false, bytes))
    } ?? 0
  }

  /// Lends the page of level 0 that has a key if any has.
  private func withLeaf<Result>(
    for key: RawSpan, _ body: (Child, OrderedPage, RawSpan) throws -> Result?
  ) throws -> Result? {
    guard footer.depth > 0 else { return nil }
    var place = footer.root
    for level in stride(from: Int(footer.depth) - 1, to: 0, by: -1) {
      place = try withPage(place, level: level) { page, bytes in
        try page.child(max(0, try page.bound(key, passingEqual: true, bytes) - 1), bytes)
      }
    }
    return try withPage(place, level: 0) { try body(place, $0, $1) }
  }
}
