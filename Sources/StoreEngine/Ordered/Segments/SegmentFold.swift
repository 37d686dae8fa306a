import Files

/// A fold of changes into the segments of a large table: a new run, and some steps of merging.
///
///     runs that are merged with the parts  | a  b |        key by key, a few parts in each fold
///     later runs                           | c  d  e  f |  eight of a size become one
///     the new run                          | g |
///
/// All files are new. The list that names them becomes the table's file when the fold is published.
struct SegmentFold {
  let table: OrderedTableName
  let limits: SegmentLimits
  let target: SegmentTarget
  /// The list as it is to be.
  var list: SegmentList
  var parts: [OrderedFile] = []
  var runs: [OrderedFile] = []

  /// Begins a fold over the present content of a table; nil if it is one file or none.
  init(_ table: OrderedTableName, over base: OrderedSegments?, to target: SegmentTarget) {
    (self.table, self.target, limits) = (table, target, target.limits)
    list = base?.list ?? SegmentList(nextNumber: 1)
    (parts, runs) = (base?.parts ?? [], base?.runs ?? [])
  }

  /// Adds changes as a new run, and continues to merge.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError` or `damaged`.
  mutating func add(_ changes: KeyChanges) throws(StoreError) {
    if !changes.isEmpty {
      try writeRun { (writer) throws(StoreError) in try writer.append(changes) }
    }
    try mergeLastRuns()
    beginMergingIfDue()
    if list.mergingCount > 0 {
      let last = runs.last?.byteCount ?? 0
      try mergeParts(upTo: max(1, last * limits.mergedPerByte))
    }
  }

  /// Divides the keys of a table into parts.
  ///
  /// - Throws: ``StoreError`` with `noSpace`, `ioError` or `damaged`.
  mutating func divide(_ view: OrderedView) throws(StoreError) {
    var writer = PartWriter(target, table, from: list.nextNumber)
    try view.scanOnce { (key, value) throws(StoreError) in try writer.append(key, value) }
    try writer.endPart()
    list.keyCount = writer.parts.reduce(0) { $0 + $1.file.count }
    replaceParts(by: writer)
  }

  private mutating func replaceParts(by writer: PartWriter) {
    list.nextNumber = writer.nextNumber
    list.parts = writer.parts.map(\.part)
    if !list.parts.isEmpty { list.parts[0].firstKey = [] }
    parts = writer.parts.map(\.file)
  }

  // MARK: Runs

  /// Writes the run that a closure appends, and adds it as the newest one, unless it is empty.
  private mutating func writeRun(
    _ body: (inout OrderedFileWriter) throws(StoreError) -> Void
  ) throws(StoreError) {
    let number = list.nextNumber
    var writer = try target.begin(.changes, number, of: table)
    list.nextNumber += 1
    try body(&writer)
    try writer.finish(isSynced: target.isSynced)
    if writer.count == 0 { return target.remove(.changes, number, of: table) }
    list.runs.append(.init(number: number, mark: target.mark, growth: writer.growth))
    list.keyCount += writer.growth
    runs.append(try target.open(.changes, number, of: table))
  }

  /// Merges the last runs if there are several of about the same size.
  private mutating func mergeLastRuns() throws(StoreError) {
    while let first = firstToMerge {
      let merged = Array(runs[first...])
      let growth = list.runs[first...].reduce(0) { $0 + $1.growth }
      list.runs.removeLast(merged.count)
      runs.removeLast(merged.count)
      list.keyCount -= growth
      try writeRun { (writer) throws(StoreError) in try Self.merge(merged, to: &writer) }
    }
  }

  private var firstToMerge: Int? {
    let fan = max(2, limits.fan)
    let first = runs.count - fan
    guard first >= list.mergingCount, let last = runs.last else { return nil }
    return runs[first].byteCount < fan * last.byteCount ? first : nil
  }

  private static func merge(
    _ runs: [OrderedFile], to writer: inout OrderedFileWriter
  ) throws(StoreError) {
    var files: [FileRunCursor] = []
    for run in runs { files.append(try FileRunCursor(run, KeyRange(), isReversed: false)) }
    var (cursor, entry) = (LayersCursor(files: files, [], KeyRange(), isReversed: false), [UInt8]())
    files = []
    while let (bytes, change) = cursor.next {
      try writer.append(change, bytes, growth: cursor.growth, &entry)
      try cursor.advance()
    }
  }

  // MARK: Parts

  /// Begins to merge the present runs with the parts if they are large compared with them.
  ///
  /// Removals are small. So the number of entries counts as well.
  private mutating func beginMergingIfDue() {
    if list.mergingCount > 0 || runs.isEmpty { return }
    let part = SegmentLimits.runPart
    guard runs.byteCount * part >= parts.byteCount || runs.keyCount * part >= parts.keyCount else {
      return
    }
    (list.mergingCount, list.mergedTo) = (runs.count, [])
  }

  /// Merges the next parts with the runs that are being merged, up to a number of bytes.
  ///
  /// Parts of which the runs change nothing stay as they are.
  private mutating func mergeParts(upTo limit: Int) throws(StoreError) {
    let all = try OrderedSegments(list, parts: parts, runs: runs, path: target.path(of: table))
    let merging = try all.first(list.mergingCount)
    var index = parts.isEmpty ? 0 : list.mergedTo.lend { all.part(of: $0) }
    var writer = PartWriter(target, table, from: list.nextNumber)
    for kept in 0..<index { writer.keep(list.parts[kept], parts[kept]) }
    var done = 0
    while index < max(1, parts.count), done < limit {
      let range = parts.isEmpty ? KeyRange() : list.range(ofPart: index)
      if try merging.hasChanges(in: range) {
        try writer.append(OrderedView(base: .segments(merging)), in: range)
        done += parts.isEmpty ? 0 : parts[index].byteCount
      } else if !parts.isEmpty {
        try writer.endPart()
        writer.keep(list.parts[index], parts[index])
      }
      index += 1
    }
    try writer.endPart()
    try endMerging(writer, at: index)
  }

  private mutating func endMerging(_ writer: PartWriter, at index: Int) throws(StoreError) {
    var writer = writer
    if index < parts.count {
      list.mergedTo = list.parts[index].firstKey
      for kept in index..<parts.count { writer.keep(list.parts[kept], parts[kept]) }
    } else {
      list.runs.removeFirst(list.mergingCount)
      runs.removeFirst(list.mergingCount)
      (list.mergingCount, list.mergedTo) = (0, [])
    }
    replaceParts(by: writer)
  }
}

extension [OrderedFile] {
  fileprivate var byteCount: Int { reduce(0) { $0 + $1.byteCount } }
  fileprivate var keyCount: Int { reduce(0) { $0 + $1.count } }
}

extension OrderedSegments {
  /// Whether a run has entries in a range.
  fileprivate func hasChanges(in range: KeyRange) throws(StoreError) -> Bool {
    try cursors(range, isReversed: false).contains { !$0.isAtEnd }
  }
}
