import Files

extension OrderedFile {
  /// Reads all pages, and compares each with the pages below it.
  ///
  /// Complexity: linear in the size of the file.
  ///
  /// - Throws: ``StoreError`` with `damaged` for the first problem.
  package func check() throws(StoreError) {
    _ = try checkedGrowth()
  }

  /// Does the same; returns the number of keys by which all entries of a run make the table larger.
  func checkedGrowth() throws(StoreError) -> Int {
    var check = try OrderedFileCheck(file: self)
    if footer.depth > 0 { try check.walk(footer.root, Int(footer.depth) - 1) }
    guard check.count == count else {
      throw damage("It has \(check.count) keys, and should have \(count)", at: byteCount)
    }
    return check.growth
  }
}

private struct OrderedFileCheck {
  let file: OrderedFile
  /// The number of keys so far.
  private(set) var count = 0
  /// The growth by the entries of a run so far.
  private(set) var growth = 0
  private var last: [UInt8]?
  private let filter: StoredFilter

  init(file: OrderedFile) throws(StoreError) {
    self.file = file
    filter = try file.readFilter()
  }

  private var isRun: Bool { file.footer.content == .run }

  mutating func walk(_ node: OrderedFile.Child, _ level: Int) throws(StoreError) {
    guard node.rank == count else {
      throw file.damage(
        "A page counts \(node.rank) keys before it, not \(count)", at: node.offset)
    }
    guard !isRun || node.growth == growth else {
      throw file.damage(
        "A page counts \(node.growth) new keys before it, not \(growth)", at: node.offset)
    }
    try file.withPage(node, level: level) { page, bytes in
      for index in 0..<page.count {
        let (rest, value) = try page.entry(index, bytes)
        let key =
          [UInt8](copying: bytes.extracting(page.prefix))
          + [UInt8](copying: bytes.extracting(rest))
        if level > 0 {
          try enter(index, key, page, bytes, level)
        } else {
          try take(key, node)
          if isRun { try takeEntry(bytes.extracting(value), of: key, node) }
        }
      }
    }
  }

  private mutating func enter(
    _ index: Int, _ separator: [UInt8], _ page: OrderedPage, _ bytes: RawSpan, _ level: Int
  ) throws {
    let child = try page.child(index, bytes)
    let isBehind = last.map { $0.lexicographicallyPrecedes(separator) } ?? separator.isEmpty
    let before = last
    try walk(child, level - 1)
    // The first page of each level has the empty separator, or that of its parent.
    guard isBehind || index == 0, try isFirst(separator, child, level - 1), before != last else {
      throw file.damage("A page is not found by its keys", at: child.offset)
    }
  }

  /// Whether a separator is not greater than the first key of a page.
  private func isFirst(
    _ separator: [UInt8], _ node: OrderedFile.Child, _ level: Int
  ) throws(StoreError) -> Bool {
    try file.withPage(node, level: level) { page, bytes in
      if level > 0 { return try isFirst(separator, page.child(0, bytes), level - 1) }
      let first =
        [UInt8](copying: bytes.extracting(page.prefix))
        + [UInt8](copying: bytes.extracting(try page.entry(0, bytes).key))
      return !first.lexicographicallyPrecedes(separator)
    }
  }

  private mutating func take(_ key: [UInt8], _ node: OrderedFile.Child) throws(StoreError) {
    if let last, !last.lexicographicallyPrecedes(key) {
      throw file.damage("Keys are not in their order", at: node.offset)
    }
    last = key
    count += 1
  }

  /// Verifies an entry of a run, and that the filter has its key.
  private mutating func takeEntry(
    _ entry: RawSpan, of key: [UInt8], _ node: OrderedFile.Child
  ) throws(StoreError) {
    guard RunEntry.isRemoval(entry) != nil else {
      throw file.damage("An entry of a run is not valid", at: node.offset)
    }
    growth += RunEntry.growth(entry)
    guard key.lend({ filter.mayContain($0) }) else {
      throw file.damage("The filter of a run lacks a key", at: node.offset)
    }
  }
}

extension OrderedFiles {
  /// Returns findings about the files.
  func inspect() throws(StoreError) -> [StoreFinding] {
    let names = try names().sorted { $0.fileName < $1.fileName }
    return try names.map(finding).compactMap { $0 } + lostFindings()
  }

  private func finding(in name: OrderedTableName) throws(StoreError) -> StoreFinding? {
    do {
      let file = try file(of: table(name)).file
      try file.opened?.check()
      return nil
    } catch  where error.code == .damaged {
      return StoreFinding(
        name.kind == .index ? .index : .fileDamaged, error.message + Self.cure(name.kind),
        at: .init(path: directory.path, className: name.fileName, offset: error.location.offset))
    }
  }

  private static func cure(_ kind: OrderedTableName.Kind) -> String {
    kind == .index ? " It is rebuilt when its class is next registered." : " Salvage the store."
  }

  private func lostFindings() -> [StoreFinding] {
    lostIndexes().map { name, reason in
      StoreFinding(
        .index, reason + Self.cure(.index),
        at: .init(path: directory.path, className: name.fileName))
    }
  }
}
