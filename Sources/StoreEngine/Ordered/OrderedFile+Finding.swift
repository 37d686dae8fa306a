import Files

extension OrderedFile {
  /// Calls a closure with the value of a key.
  ///
  /// Complexity: O(log n).
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - isVerifying: Whether the closure verifies the value, as by a checksum of its own, and throws
  ///     if it is wrong.
  ///   - body: Called with the value.
  /// - Returns: The result of the closure; nil if there is no such key.
  /// - Throws: ``StoreError`` with `damaged`, or an error of the closure.
  package func withValue<Result>(
    _ key: RawSpan, isVerifying: Bool = false, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    if isVerifying, opened == nil, footer.depth > 0 { return try withOwnValue(key, body) }
    var result: Result?
    try lendLeaf(for: key) { _, page, bytes in
      if let value = try page.value(of: key, bytes) { result = try body(bytes.extracting(value)) }
    }
    return result
  }

  /// Does the same for a closure that verifies the value.
  ///
  /// The checksum of the page, which takes more bytes than the value, is verified only if the key is
  /// not found, or is found with a wrong value. Nothing else in a page is trusted.
  private func withOwnValue<Result>(
    _ key: RawSpan, _ body: (RawSpan) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try file.withBytes { (bytes) throws(StoreError) in
      let node = try leaf(for: key, bytes)
      var result: Result?
      do throws(StoreError) {
        let page = bytes.extracting(try range(of: node, bytes))
        // A page may extend into another one of the system, whose address also takes time to find.
        page.expect(at: page.byteCount - 1)
        try open(page, node, 0) { page, bytes in
          let value = try page.value(of: key, bytes)
          if let value { result = try body(bytes.extracting(value)) }
        }
      } catch {
        _ = try check(node, bytes)
        throw error
      }
      if result == nil { _ = try check(node, bytes) }
      return result
    }
  }

  /// Returns the number of keys before a key.
  ///
  /// Complexity: O(log n).
  package func rank(of key: RawSpan) throws(StoreError) -> Int {
    var rank = 0
    try lendLeaf(for: key) { node, page, bytes in
      rank = node.rank + (try page.bound(key, passingEqual: false, bytes))
    }
    return rank
  }

  /// Returns the number of keys in a range that is not empty.
  ///
  /// Complexity: O(log n).
  func count(in range: KeyRange) throws(StoreError) -> Int {
    let start = range.from.isEmpty ? 0 : try range.from.lend(rank)
    let end = if let to = range.to { try to.lend(rank) } else { count }
    guard start <= end else { throw damage("Counts of keys are wrong", at: 0) }
    return end - start
  }

  /// Calls a closure with the page of level 0 that can contain a key; not at all without keys.
  func lendLeaf(
    for key: RawSpan, _ body: (Child, OrderedPage, RawSpan) throws -> Void
  ) throws(StoreError) {
    guard footer.depth > 0 else { return }
    guard opened == nil else { return try lendOpenedLeaf(for: key, body) }
    try file.withBytes { (bytes) throws(StoreError) in
      let node = try leaf(for: key, bytes)
      try open(bytes.extracting(try check(node, bytes)), node, 0) { try body(node, $0, $1) }
    }
  }

  /// Returns the page of level 0 that can contain a key, if pages are stored unsealed.
  func leaf(for key: RawSpan, _ bytes: RawSpan) throws(StoreError) -> Child {
    var (node, top) = start(for: key)
    for level in stride(from: top, to: 0, by: -1) {
      node = try child(of: node, level, for: key, bytes)
    }
    return node
  }

  /// Returns the page below an unsealed page that can contain a key.
  private func child(
    of node: Child, _ level: Int, for key: RawSpan, _ bytes: RawSpan
  ) throws(StoreError) -> Child {
    let page = bytes.extracting(try check(node, bytes))
    do throws(OrderedPage.Damage) {
      let numbers = try OrderedPage(page)
      guard numbers.level == level else { throw OrderedPage.Damage(offset: 2) }
      return try numbers.child(for: key, page)
    } catch {
      throw damage("A page is damaged", at: node.offset + error.offset)
    }
  }

  /// Does the same as ``lendLeaf(for:_:)`` if a codec opens the pages.
  private func lendOpenedLeaf(
    for key: RawSpan, _ body: (Child, OrderedPage, RawSpan) throws -> Void
  ) throws(StoreError) {
    var node = footer.root
    for level in stride(from: Int(footer.depth) - 1, to: 0, by: -1) {
      node = try withPage(node, level: level) { page, bytes in try page.child(for: key, bytes) }
    }
    try withPage(node, level: 0) { try body(node, $0, $1) }
  }
}
