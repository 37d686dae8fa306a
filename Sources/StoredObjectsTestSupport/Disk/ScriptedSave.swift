public import StoredObjectsCore

/// A save of a script, whose content is determined by a seed and its number.
///
/// So a process that writes and one that checks agree without communication. The saves are small
/// and over several tables, with an occasional large one. They have new, changed and removed rows,
/// named buffers, and checkpoints.
public struct ScriptedSave: Sendable {
  /// A row of a table, and its record; nil removes the row.
  public struct Row: Sendable {
    /// The table.
    public let table: String
    /// The row.
    public let rowID: UInt32
    /// The record.
    public let record: [UInt8]?
    /// Whether the row must be new.
    public let isInsert: Bool
  }

  /// The tables of all scripts.
  public static let tables = ["Album", "Playlist", "Song"]

  /// The number of the save, from 1.
  public let number: Int
  /// The rows of the save, each once.
  public private(set) var rows: [Row] = []
  /// The named buffers of the save; nil removes one.
  public private(set) var names: [(name: String, buffer: [UInt8]?)] = []
  /// The keys and values in the ordered table ``index``; nil removes a key.
  public private(set) var keys: [(key: [UInt8], value: [UInt8]?)] = []
  /// Whether all previous keys are removed first.
  public private(set) var clearsKeys = false
  /// The ordered table of all scripts.
  public static let index = OrderedTableName("Words", kind: .data)
  /// Whether a checkpoint follows the save.
  public let isFollowedByCheckpoint: Bool

  private static let firstInserted: UInt32 = 1000
  private static let insertsPerSave: UInt32 = 64

  /// Creates a save.
  ///
  /// Complexity: linear in the size of the save.
  ///
  /// - Parameters:
  ///   - number: The number of the save, from 1.
  ///   - seed: The seed of the script.
  ///   - largeByteCount: The approximate size of a large save.
  public init(_ number: Int, seed: UInt64, largeByteCount: Int = 24 << 10) {
    var generator = SeededGenerator(seed: seed ^ UInt64(number) &* 0xD1B5_4A32_D192_ED03)
    self.number = number
    isFollowedByCheckpoint = Int.random(in: 0..<9, using: &generator) == 0
    let isLarge = Int.random(in: 0..<8, using: &generator) == 0
    let count = isLarge ? 16 : Int.random(in: 1...4, using: &generator)
    for index in 0..<count {
      let size =
        isLarge ? largeByteCount / count : Int.random(in: 0...200, using: &generator)
      addRow(index, size, &generator)
    }
    if Int.random(in: 0..<6, using: &generator) == 0 {
      let isSet = Int.random(in: 0..<4, using: &generator) > 0
      names = [
        (["Favorite", "Order"].randomElement(using: &generator) ?? "", isSet ? bytes(9) : nil)
      ]
    }
    addKeys(isLarge ? 60 : Int.random(in: 0...4, using: &generator), &generator)
  }

  private mutating func addKeys(_ count: Int, _ generator: inout SeededGenerator) {
    clearsKeys = Int.random(in: 0..<40, using: &generator) == 0
    for _ in 0..<count {
      let key = Array("Song \(Int.random(in: 0..<300, using: &generator))".utf8)
      let isRemoval = Int.random(in: 0..<3, using: &generator) == 0
      keys.append((key, isRemoval ? nil : bytes(.random(in: 0...40, using: &generator))))
    }
  }

  private mutating func addRow(_ index: Int, _ size: Int, _ generator: inout SeededGenerator) {
    let table = Self.tables.randomElement(using: &generator) ?? ""
    let kind = Int.random(in: 0..<8, using: &generator)
    // The row is a new one, one of an earlier save, or one of a few that are often rewritten.
    let save = kind < 3 ? number : Int.random(in: 1...number, using: &generator)
    let inserted =
      Self.firstInserted + UInt32(truncatingIfNeeded: save) * Self.insertsPerSave + UInt32(index)
    let rowID = kind < 5 ? inserted : UInt32.random(in: 1...20, using: &generator)
    guard !rows.contains(where: { ($0.table, $0.rowID) == (table, rowID) }) else { return }
    let isDelete = kind > 2 && Int.random(in: 0..<3, using: &generator) == 0
    rows.append(
      Row(
        table: table, rowID: rowID, record: isDelete ? nil : bytes(size), isInsert: kind < 3))
  }

  /// Returns bytes that identify the save that wrote them.
  private func bytes(_ count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: UInt64(number) << 32 | UInt64(count))
    var bytes: [UInt8] = []
    while bytes.count < count {
      let word = generator.next()
      bytes += (0..<UInt64(8)).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }
    return Array(bytes.prefix(count))
  }

  /// Commits the save.
  ///
  /// Complexity: linear in the size of the save, and one commit of the backend.
  ///
  /// - Throws: The errors of the backend.
  public func commit(to backend: some StoreBackend) throws {
    try backend.commit { changes in
      for row in rows {
        let table = try backend.table(named: row.table)
        switch row.record {
        case nil: changes.delete(row.rowID, in: table)
        case .some(let record) where row.isInsert: changes.insert(row.rowID, in: table, record)
        case .some(let record): changes.update(row.rowID, in: table, record)
        }
      }
      for (name, buffer) in names { changes.set(name, buffer) }
      let index = try backend.orderedTable(Self.index)
      if clearsKeys { changes.clear(index) }
      for (key, value) in keys { changes.set(key, to: value, in: index) }
    }
  }
}
