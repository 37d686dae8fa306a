package import Files

/// A search for the keys of a damaged ordered table, page by page.
///
/// It does not use the upper levels.
package struct OrderedSalvage {
  private let file: MappedFile
  /// Whether the entries are changes of keys.
  private let isRun: Bool
  private let codec: (any OrderedPageCodec)?
  /// The readable keys, as changes of an empty table.
  package private(set) var changes: ChangeSet
  /// The parts of the file that are not valid.
  package private(set) var gaps: [Range<Int>] = []

  static let table = OrderedTableID(index: 0)

  /// The maximum size of pages that are searched for at every offset.
  private static let commonSize = 64 << 10
  /// The number of bytes of larger pages that the search may still read.
  private var budget = 0

  /// Prepares to read a file.
  package init(_ file: MappedFile, codec: (any OrderedPageCodec)? = nil) {
    self.init(file, codec: codec, isRun: false, adding: ChangeSet())
  }

  /// Prepares to read a file, whose keys are added to others.
  init(
    _ file: MappedFile, codec: (any OrderedPageCodec)?, isRun: Bool, adding changes: ChangeSet
  ) {
    (self.file, self.codec, self.isRun, self.changes) = (file, codec, isRun, changes)
  }

  /// Reads the whole file.
  ///
  /// Complexity: linear in the size of the file; some hundred times that if it is damaged.
  package mutating func run() {
    var offset = OrderedFileFormat.magic.count
    let end = file.count - OrderedFileFormat.footerSize
    budget = 8 * file.count
    while offset < end {
      if isRun, isFilter(offset..<end) { break }
      guard let size = takePage(at: offset, end) else {
        let next = nextPage(from: offset + 1, end)
        gaps.append(offset..<next)
        offset = next
        continue
      }
      offset += size
    }
    if offset > end { gaps.append(end..<file.count) }
  }

  private func isFilter(_ block: Range<Int>) -> Bool {
    file.withBytes { OrderedFileFormat.isFilter($0.extracting(block), at: block.lowerBound) }
  }

  /// Returns the offset of the next page, or the end.
  ///
  /// Any four bytes may look like the size of a page, so only a limited number of large ones is
  /// tried.
  private mutating func nextPage(from start: Int, _ end: Int) -> Int {
    var offset = start
    while offset + OrderedFileFormat.pageHeadSize < end {
      let size = file.withBytes { Int($0.loadUInt32(at: offset, isBigEndian: false)) }
      let isTried = size <= Self.commonSize || size <= min(budget, end - offset)
      if size > Self.commonSize, isTried { budget -= size }
      if isTried, pageSize(at: offset, end) != nil { return offset }
      offset += 1
    }
    return end
  }

  /// Returns the size of the page at an offset; nil if there is no valid page.
  private func pageSize(at offset: Int, _ end: Int) -> Int? {
    file.withBytes { bytes in
      let head = OrderedFileFormat.pageHeadSize
      guard offset + head < end else { return nil }
      let size = Int(bytes.loadUInt32(at: offset, isBigEndian: false))
      guard size > head, size <= end - offset else { return nil }
      let stored = Span<UInt8>(_bytes: bytes.extracting(offset + head..<offset + size))
      let expected = bytes.loadUInt32(at: offset + 4, isBigEndian: false)
      return OrderedFileFormat.checksum(stored, at: offset) == expected ? size : nil
    }
  }

  private mutating func takePage(at offset: Int, _ end: Int) -> Int? {
    guard let size = pageSize(at: offset, end) else { return nil }
    let stored = file.withBytes { bytes in
      [UInt8](
        copying: bytes.extracting(offset + OrderedFileFormat.pageHeadSize..<offset + size))
    }
    guard
      let plain = try? codec.map({ codec in try stored.lend { try codec.open($0, at: offset) } })
        ?? stored,
      let entries = try? Self.entries(plain)
    else {
      gaps.append(offset..<offset + size)
      return size
    }
    for (key, value) in entries { take(key, value, offset..<offset + size) }
    return size
  }

  private mutating func take(_ key: [UInt8], _ value: [UInt8], _ page: Range<Int>) {
    if !isRun { return changes.set(key, to: value, in: Self.table) }
    guard let isRemoval = value.lend({ RunEntry.isRemoval($0) }) else { return gaps.append(page) }
    changes.set(key, to: isRemoval ? nil : Array(value.dropFirst()), in: Self.table)
  }

  private static func entries(
    _ bytes: [UInt8]
  ) throws(OrderedPage.Damage) -> [(key: [UInt8], value: [UInt8])] {
    try bytes.lend { (bytes) throws(OrderedPage.Damage) in
      let page = try OrderedPage(bytes)
      guard page.level == 0 else { return [] }
      let prefix = [UInt8](copying: bytes.extracting(page.prefix))
      return try (0..<page.count).map { (index) throws(OrderedPage.Damage) in
        let (key, value) = try page.entry(index, bytes)
        return (
          prefix + [UInt8](copying: bytes.extracting(key)),
          [UInt8](copying: bytes.extracting(value))
        )
      }
    }
  }
}

extension SalvageSource {
  /// Copies the ordered tables of data; indexes are rebuilt from the records.
  ///
  /// In an encrypted store the pages are opened, and sealed again for the new file with the key of
  /// the old one.
  ///
  /// It needs memory for the largest table.
  ///
  /// - Returns: The external values that are listed or were found.
  /// - Throws: ``StoreError`` with `noSpace` or `ioError`.
  func salvageOrdered(
    to target: TargetDirectory, _ values: ExternalSalvage, _ report: inout SalvageReport
  ) throws(StoreError) -> Set<ExternalID> {
    let logged = try pendingKeys()
    let entries = try entries()
    let files = (entries + newFiles.keys + entries.compactMap { SegmentName.parse($0)?.table })
      .compactMap(OrderedTableName.init(fileName:))
    let list = try valueList()
    let names = Set(files + logged.keys + (values.isEmpty ? [] : [list]))
      .filter { $0.kind == .data && seal.name($0.name) != nil }
    var listed: Set<ExternalID> = []
    for name in names.sorted(by: { $0.name < $1.name }) {
      var changes = try keys(of: name, logged[name] ?? [], &report)
      if name == list { listed = changes.complete(with: values) }
      try write(changes, of: name, to: target, &report)
    }
    return listed
  }

  /// Returns the name of the list of external values in the files.
  private func valueList() throws(StoreError) -> OrderedTableName {
    let name = ExternalCatalogue.table
    guard let sealing = seal.sealing else { return name }
    return OrderedTableName(try sealing.fileName(ofTable: name.name), kind: name.kind)
  }

  /// Returns the changes of ordered tables in saves that are only in the log.
  ///
  /// It stops at a save that is not authentic, which ``pendingChanges(_:)`` has reported.
  private func pendingKeys() throws(StoreError)
    -> [OrderedTableName: [(ChangeSet.OrderedTableChanges, [UInt8])]]
  {
    var logged: [OrderedTableName: [(ChangeSet.OrderedTableChanges, [UInt8])]] = [:]
    do {
      for batch in log?.pendingBatches ?? [] {
        let save = try systemErrors(at: logPath) { try log?.allChanges(of: batch) }
        guard let (changes, _, names) = save else { break }
        for change in changes.ordered {
          logged[names[change.table.index], default: []].append((change, changes.bytes))
        }
      }
    } catch  where error.code == .notAuthentic {}
    return logged
  }

  private func keys(
    of name: OrderedTableName, _ logged: [(ChangeSet.OrderedTableChanges, [UInt8])],
    _ report: inout SalvageReport
  ) throws(StoreError) -> ChangeSet {
    var changes = try readKeys(of: name, seal.pageCodec(of: name), &report)
    for (change, bytes) in logged {
      if change.clearsFirst { changes = ChangeSet() }
      for key in change.changes {
        changes.set(
          Array(bytes[key.key]), to: key.isRemoval ? nil : Array(bytes[key.value]),
          in: OrderedSalvage.table)
      }
    }
    return changes
  }

  private func write(
    _ changes: ChangeSet, of name: OrderedTableName, to target: TargetDirectory,
    _ report: inout SalvageReport
  ) throws(StoreError) {
    let run = KeyRun(bytes: changes.bytes, changes.ordered.first?.changes ?? [])
    let view = OrderedView(base: nil, runs: KeyRuns(only: run))
    var count = 0
    try systemErrors(at: target.temporaryPath) {
      let sink = try NewOrderedFile(target.file(name.fileName), rights: .ownerOnly)
      var writer = OrderedFileWriter(sink, codec: seal.pageCodec(of: name))
      try view.scanOnce { (key, value) throws(StoreError) in
        try writer.append(key, value)
        count += 1
      }
      try writer.finish(isSynced: true)
    }
    report.orderedTables.append(.init(name: name, keyCount: count))
  }

  private func readKeys(
    of name: OrderedTableName, _ codec: (any OrderedPageCodec)?, _ report: inout SalvageReport
  ) throws(StoreError) -> ChangeSet {
    let location = try file(ofOrdered: name)
    if let segments = try segments(of: name, codec, &report) {
      return readSegments(segments, of: name, &report)
    }
    guard try hasFile(location) else { return ChangeSet() }
    return readKeys(of: name, in: location, codec, isRun: false, adding: ChangeSet(), &report)
  }

  /// Returns the keys that are readable in a file, added to others.
  func readKeys(
    of name: OrderedTableName, in location: FileLocation, _ codec: (any OrderedPageCodec)?,
    isRun: Bool, adding changes: ChangeSet, _ report: inout SalvageReport
  ) -> ChangeSet {
    let path = location.path
    do {
      let file = try systemErrors(at: path) { try MappedFile(location) }
      var salvage = OrderedSalvage(file, codec: codec, isRun: isRun, adding: changes)
      salvage.run()
      for gap in salvage.gaps {
        report.lose(
          .fileDamaged, "\(gap.count) bytes of an ordered table are unreadable, with their keys.",
          at: .init(path: path, className: name.fileName, offset: gap.lowerBound))
      }
      return salvage.changes
    } catch {
      report.lose(StoreFinding(.fileDamaged, error, at: .init(path: path)))
      return changes
    }
  }
}

extension ChangeSet {
  /// Adds values that the list lacks, and returns all that are listed.
  fileprivate mutating func complete(with values: ExternalSalvage) -> Set<ExternalID> {
    var listed: Set<ExternalID> = []
    let run = KeyRun(bytes: bytes, ordered.first?.changes ?? [])
    try? OrderedView(base: nil, runs: KeyRuns(only: run)).scanOnce { key, _ in
      if let value = ExternalCatalogue.value(ofKey: [UInt8](copying: key)) { listed.insert(value) }
    }
    for reference in values.unlisted(besides: listed) {
      let entry = ExternalCatalogue.unknownEntry(reference)
      set(entry.key, to: entry.value, in: OrderedSalvage.table)
      listed.insert(reference.id)
    }
    return listed
  }
}
