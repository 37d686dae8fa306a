import Files

/// A segment among the files of a damaged store.
struct FoundSegment {
  let fileName: String
  let kind: SegmentName.Kind
  let number: UInt64
}

// Later files take precedence if the parts of a table are read first, and then its runs, oldest first.
// This holds even while runs are merged with the parts: a part that contains the changes of a run
// already stays the same with them.
extension SalvageSource {
  /// Returns the segments of a table in the order in which they are read.
  ///
  /// If the list is damaged or gone, all segments in the directory count.
  ///
  /// - Returns: nil if the table is not stored in segments.
  /// - Throws: ``StoreError`` with `ioError`.
  func segments(
    of name: OrderedTableName, _ codec: (any OrderedPageCodec)?, _ report: inout SalvageReport
  ) throws(StoreError) -> [FoundSegment]? {
    var found = try entries().compactMap { entry -> FoundSegment? in
      guard let segment = SegmentName.parse(entry),
        segment.table.utf8.elementsEqual(name.fileName.utf8)
      else { return nil }
      return FoundSegment(fileName: entry, kind: segment.kind, number: segment.number)
    }
    let location = try file(ofOrdered: name)
    if let map = try? MappedFile(location), let file = try? OrderedFile(any: map, codec: codec) {
      // One file has replaced any segments, which are only left over.
      if file.footer.content == .keys { return nil }
      if let list = try? SegmentList(file) {
        found.removeAll { !list.numbers.contains($0.number) }
        reportMissing(list, found, of: name, &report)
      }
    }
    if found.isEmpty { return nil }
    return found.sorted { ($0.kind.order, $0.number) < ($1.kind.order, $1.number) }
  }

  private func reportMissing(
    _ list: SegmentList, _ found: [FoundSegment], of name: OrderedTableName,
    _ report: inout SalvageReport
  ) {
    let missing = Set(list.numbers).subtracting(found.map(\.number))
    if missing.isEmpty { return }
    let numbers = missing.sorted().map(String.init).joined(separator: ", ")
    report.lose(
      .fileDamaged, "Segments of an ordered table are gone, with their keys: \(numbers).",
      at: .init(path: path, className: name.fileName))
  }

  /// Returns the keys that are readable in segments.
  func readSegments(
    _ segments: [FoundSegment], of name: OrderedTableName, _ report: inout SalvageReport
  ) -> ChangeSet {
    segments.reduce(ChangeSet()) { changes, segment in
      readKeys(
        of: name, in: directory.file(segment.fileName),
        seal.pageCodec(ofFile: segment.fileName), isRun: segment.kind == .changes,
        adding: changes, &report)
    }
  }
}

extension SegmentName.Kind {
  fileprivate var order: Int { self == .keys ? 0 : 1 }
}
