import Files
import StoreEngine

/// A build of a full-text index by sorting, in bounded memory.
///
/// Positions are collected until the memory is full, and then written to a temporary file as a
/// sorted run. At the end, all runs are merged into the index. For a very large class, they are
/// also merged several times on the way, so that the work of a stopped process is not lost.
struct SortedTextBuild {
  private let store: Store
  private let text: RegisteredText
  private let walk: TextWalk
  private let backend: any OrderedRebuilding
  private var collectors: [PostingCollector]
  private var counts: TextCounts
  private var lengths: TextLengthBlocks
  private var folded = FoldedText()
  private var runs: [PostingRun] = []
  /// The number of the next temporary file.
  private var runCount = 0
  /// Whether the index has positions of rows that are in no run.
  private var hasSaved = false
  private var lastRow: UInt32 = 0
  /// The texts of rows that came after a higher row, and their total size.
  private var late: [(row: UInt32, texts: [String])] = []
  private var lateBytes = 0

  init(
    _ store: Store, _ entry: RegisteredClass, _ text: RegisteredText,
    _ backend: any OrderedRebuilding, goesOn: Bool
  ) throws(StoreError) {
    (self.store, self.text, self.backend) = (store, text, backend)
    collectors = text.attributes.map { _ in PostingCollector() }
    lengths = TextLengthBlocks(text.attributes.count)
    counts = TextCounts(text.attributes.count)
    hasSaved = goesOn
    if goesOn {
      counts = try text.counts(store.backend)
      try lengths.read(text, store.backend)
    } else {
      counts.saves = (try? text.counts(store.backend))?.saves ?? .random(in: 0 ... .max)
    }
    walk = try TextWalk(store, entry, text, without: goesOn ? lengths.rows : [])
  }

  /// A fifth of the memory: lists take twice their size, and merging needs the rest.
  private var collectedLimit: Int { max(1 << 16, store.configuration.indexingMemory / 5) }
  /// The size of runs at which they are merged into the index on the way.
  private var stepLimit: Int { text.stepBytes }

  mutating func run(_ progress: (IntegrityProgress) -> Void) throws(StoreError) {
    defer { for run in runs { run.remove() } }
    try walk.run(progress) { (row, texts) throws(StoreError) in try take(row, texts) }
    try addLate()
    try spill()
    try merge(stamp: text.stamp)
    walk.finish(progress)
  }

  private mutating func take(_ row: UInt32, _ texts: [String]) throws(StoreError) {
    if row > lastRow {
      add(row, texts)
      lastRow = row
    } else {
      late.append((row, texts))
      lateBytes += texts.reduce(64) { $0 + $1.utf8.count }
    }
    guard lateBytes + collectors.reduce(0, { $0 + $1.byteCount }) > collectedLimit else { return }
    try addLate()
    try spill()
    if runs.reduce(0, { $0 + $1.byteCount }) > stepLimit {
      try merge(stamp: IndexStamp.unfinished + text.stamp)
    }
  }

  private mutating func add(_ row: UInt32, _ texts: [String]) {
    counts.objects &+= 1
    for (attribute, text) in texts.enumerated() {
      folded.fold(text)
      collectors[attribute].add(row, folded)
      counts.lengths[attribute] &+= UInt64(folded.scalars.count)
      lengths.set(PostingFormat.code(length: folded.scalars.count), row, attribute)
    }
  }

  /// Adds the late rows, in a run after the run of the rows before them.
  private mutating func addLate() throws(StoreError) {
    if late.isEmpty { return }
    try spill()
    for (row, texts) in late.sorted(by: { $0.row < $1.row }) { add(row, texts) }
    (late, lateBytes) = ([], 0)
    try spill()
  }

  // MARK: Runs

  private mutating func makeRun() throws(StoreError) -> PostingRun {
    runCount += 1
    return PostingRun(try backend.makeScratchFile(runCount))
  }

  /// Writes the collected positions to a run.
  private mutating func spill() throws(StoreError) {
    guard collectors.contains(where: { $0.byteCount > 0 }) else { return }
    runs.append(try makeRun())
    for attribute in collectors.indices {
      for list in collectors[attribute].takeLists() {
        try runs[runs.count - 1].append(attribute, list)
      }
    }
    try runs[runs.count - 1].flush()
  }

  /// Adds a run with the positions that the index has.
  private mutating func addSavedRun() throws(StoreError) {
    var run = try makeRun()
    do {
      var copy = SavedPostings(text, store.backend)
      try copy.write(to: &run)
      runs.append(run)
    } catch {
      run.remove()
      throw error
    }
  }

  /// Writes the index.
  private mutating func merge(stamp: [UInt8]) throws(StoreError) {
    if hasSaved { try addSavedRun() }
    counts.saves &+= 1
    var cursors: [PostingRunCursor] = []
    for index in runs.indices { cursors.append(try runs[index].cursor()) }
    var merge = PostingRunMerge(cursors)
    do {
      try backend.replaceKeys(of: text.table) { (writer) throws(StoreError) in
        try writer.append(PostingFormat.stampKey, stamp)
        try writer.append(PostingFormat.countsKey, counts.bytes)
        try merge.write(to: &writer)
        try lengths.write(to: &writer)
      }
    } catch  where error.isOfPostings {
      throw StoreError(
        .ioError, "A temporary file does not have the bytes that were written to it: try again.",
        at: .init(path: store.backend.location))
    }
    for run in runs { run.remove() }
    runs = []
    hasSaved = true
  }
}

/// A reader that copies the positions in an index to a run.
private struct SavedPostings {
  private let text: RegisteredText
  private let backend: any StoreBackend

  init(_ text: RegisteredText, _ backend: any StoreBackend) {
    (self.text, self.backend) = (text, backend)
  }

  mutating func write(to run: inout PostingRun) throws(StoreError) {
    _ = try backend.scanKeys(
      of: text.table, .prefix([PostingFormat.postings]), isReversed: false
    ) { (key, value) throws(StoreError) in
      guard key.byteCount == 15, Int(key.loadByte(at: 1)) < text.attributes.count else {
        throw damage(PostingDamage())
      }
      var trigram: UInt64 = 0
      for letter in 0..<3 {
        let bytes = (0..<3).map { UInt64(key.loadByte(at: 2 + letter * 3 + $0)) }
        trigram = trigram << 21 | bytes[0] << 16 | bytes[1] << 8 | bytes[2]
      }
      let first = PostingFormat.row(key)
      let (last, offset) = try lastRow(first, value)
      try run.append(
        Int(key.loadByte(at: 1)), trigram, first, last,
        [UInt8](copying: value.extracting(offset..<value.byteCount)))
      return .next
    }
  }

  /// Returns the last row of a chunk and the offset of its positions, after validating all bytes.
  private func lastRow(
    _ first: UInt32, _ value: RawSpan
  ) throws(StoreError) -> (row: UInt32, offset: Int) {
    do throws(PostingDamage) {
      let last = try PostingChunk.lastRow(first, value)
      try PostingChunk.visit(first, value) { _, _ in }
      var offset = 0
      _ = try value.readVarint(&offset)
      return (last, offset)
    } catch {
      throw damage(error)
    }
  }

  private func damage(_ cause: PostingDamage) -> StoreError {
    .damagedPostings(cause, at: backend.location)
  }
}
