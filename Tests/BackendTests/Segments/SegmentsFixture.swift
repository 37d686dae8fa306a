import Files
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoreEngine

/// Helpers of the tests of large tables, which small limits divide into segments.
enum SegmentsFixture {
  typealias Model = [[UInt8]: [UInt8]]

  static let name = OrderedTableName("Words", kind: .data)

  /// Limits under which a few thousand bytes are a large table, and only the test says when the log
  /// is folded.
  static var limits: CheckpointLimits {
    var limits = FoldingFixture.limits
    limits.foldsAtClose = false
    (limits.segments.tableBytes, limits.segments.partBytes) = (12 << 10, 4 << 10)
    (limits.segments.runBytes, limits.segments.fan) = (1 << 10, 3)
    limits.segments.mergedPerByte = 1
    return limits
  }

  static func open(
    _ kind: TestedBackend, _ directory: String, readOnly: Bool = false,
    in fileSystem: any FileSystem = SystemFiles.shared
  ) throws -> any DirectoryBackend {
    try kind.open(directory, readOnly: readOnly, limits: limits, in: fileSystem)
  }

  static func key(_ number: Int) -> [UInt8] { Array("word \(1_000_000 + number)".utf8) }

  /// Commits random changes of keys with numbers in a range, and does the same in a model.
  static func change(
    _ count: Int, _ numbers: Range<Int>, removing: Bool = true, _ model: inout Model,
    on backend: any DirectoryBackend, using generator: inout some RandomNumberGenerator
  ) throws {
    var changes = ChangeSet()
    let table = try backend.orderedTable(name)
    for _ in 0..<count {
      let key = key(.random(in: numbers, using: &generator))
      let isRemoval = removing && Int.random(in: 0..<3, using: &generator) == 0
      let size = Int.random(in: 0..<60, using: &generator)
      let value = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
      changes.set(key, to: isRemoval ? nil : value, in: table)
      model[key] = isRemoval ? nil : value
    }
    try backend.commit(changes)
  }

  /// Folds the log, in this thread.
  static func fold(_ backend: any DirectoryBackend) throws {
    let folding = try #require(backend as? any FoldingBeside)
    if try folding.beginFolding() { try folding.endFolding() }
  }

  /// Creates a store with a table of a few segments.
  static func prepare(
    _ kind: TestedBackend, _ directory: String, folds: Int = 2,
    using generator: inout some RandomNumberGenerator
  ) throws -> Model {
    var model: Model = [:]
    let backend = try open(kind, directory)
    try change(1200, 0..<2000, removing: false, &model, on: backend, using: &generator)
    try fold(backend)
    for _ in 0..<folds {
      try change(60, 0..<2000, &model, on: backend, using: &generator)
      try fold(backend)
    }
    try backend.close()
    return model
  }

  /// The segments that the directory has, and that the table lists.
  static func segments(_ directory: String, _ table: String = name.fileName) throws -> [String] {
    try FoldingFixture.entries(of: directory)
      .filter { SegmentName.parse($0)?.table == table }.sorted()
  }

  static func list(_ directory: String) throws -> SegmentList? {
    let file = try OrderedFile(
      any: MappedFile(FileLocation("\(directory)/\(name.fileName)")), codec: nil)
    return file.footer.content == .segments ? try SegmentList(file) : nil
  }

  /// The names of the files in a list.
  static func names(_ list: SegmentList) -> [String] {
    let parts = list.parts.map { SegmentName.fileName(.keys, $0.number, of: name.fileName) }
    let runs = list.runs.map { SegmentName.fileName(.changes, $0.number, of: name.fileName) }
    return (parts + runs).sorted()
  }

  /// Compares a table with a model: forwards, backwards, in ranges, by key and by count.
  static func compare(
    _ backend: any StoreBackend, _ model: Model, using generator: inout some RandomNumberGenerator
  ) throws {
    let table = try backend.orderedTable(name)
    let keys = model.keys.sorted { $0.lexicographicallyPrecedes($1) }
    for trial in 0..<6 {
      var range = KeyRange()
      if trial > 0 {
        range.from = key(.random(in: 0..<6100, using: &generator))
        if trial > 2 { range.to = key(.random(in: 0..<6100, using: &generator)) }
      }
      let isReversed = trial % 2 == 1
      let expected = keys.filter(range.contains)
      let found = try content(of: backend, table, range, isReversed: isReversed)
      #expect(found.map(\.key) == (isReversed ? expected.reversed() : expected))
      #expect(found.allSatisfy { model[$0.key] == $0.value })
      #expect(try backend.keyCount(in: table, range) == expected.count)
    }
    for _ in 0..<50 {
      let key = key(.random(in: 0..<6100, using: &generator))
      var value: [UInt8] = []
      let isThere = try backend.copyValue(of: key, in: table, to: &value)
      #expect((isThere ? value : nil) == model[key])
    }
  }

  private static func content(
    of backend: any StoreBackend, _ table: OrderedTableID, _ range: KeyRange, isReversed: Bool
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    var found: [(key: [UInt8], value: [UInt8])] = []
    _ = try backend.scanKeys(of: table, range, isReversed: isReversed) { key, value in
      found.append(([UInt8](copying: key), [UInt8](copying: value)))
      return .next
    }
    return found
  }
}
