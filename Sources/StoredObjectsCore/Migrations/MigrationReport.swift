import StoreEngine

/// The changes that migrations make to a store.
///
/// Print the report, or inspect its classes:
///
///     let report = try backend.rehearse(migrations, registering: [Track.self, Artist.self])
///     print(report)
public struct MigrationReport: Sendable {
  /// The names of the steps, in the order in which they ran.
  public let steps: [String]
  /// The classes that change, in the order of their class IDs.
  public internal(set) var classes: [ClassChanges] = []

  /// The changes to the objects of a class.
  public struct ClassChanges: Sendable {
    /// The name of the class; for a retired class, the name before.
    public let name: String
    /// The previous name, if the class was renamed.
    public let formerName: String?
    /// Whether the class is no longer in the store.
    public let isRetired: Bool
    /// The number of new objects.
    public internal(set) var insertedCount = 0
    /// The number of objects whose records differ, even if only in their layout.
    public internal(set) var updatedCount = 0
    /// The number of deleted objects.
    public internal(set) var deletedCount = 0
    /// The first objects of each kind, with their values by property.
    public internal(set) var examples: [String] = []

    var isEmpty: Bool {
      formerName == nil && !isRetired && insertedCount + updatedCount + deletedCount == 0
    }
  }
}

extension MigrationReport: CustomStringConvertible {
  /// The steps and the classes with their examples, one per line.
  public var description: String {
    let steps = steps.isEmpty ? ["No step is left to run."] : ["Steps:"] + steps.map { "  \($0)" }
    return (steps + classes.map(\.description)).joined(separator: "\n")
  }
}

extension MigrationReport.ClassChanges: CustomStringConvertible {
  /// The counts, followed by the examples.
  public var description: String {
    let former = formerName.map { ", before \($0)" } ?? ""
    let retired = isRetired ? ", retired" : ""
    let head = """
      \(name)\(former)\(retired): \(insertedCount) inserted, \(updatedCount) updated, \
      \(deletedCount) deleted
      """
    return ([head] + examples.map { "  \($0)" }).joined(separator: "\n")
  }
}

// MARK: - Comparing two stores

/// A comparison of a store with its state before a migration, record by record.
struct MigrationComparison {
  let before: Store
  let after: Store
  /// The current names of all classes, by their previous names.
  private var renamed: [String: String] = [:]
  /// The number of examples of each kind.
  static let exampleCount = 3

  init(before: Store, after: Store) { (self.before, self.after) = (before, after) }

  mutating func report(_ steps: [String]) throws -> MigrationReport {
    var report = MigrationReport(steps: steps)
    let (old, new) = (try names(before), try names(after))
    for (classID, name) in old { renamed[name] = new[classID] }
    for classID in Set(old.keys).union(new.keys).sorted() {
      let changes = try compare(old[classID], new[classID])
      if !changes.isEmpty { report.classes.append(changes) }
    }
    return report
  }

  private func names(_ store: Store) throws -> [UInt8: String] {
    Dictionary(try store.savedClassIDs().map { ($1, $0) }) { first, _ in first }
  }

  private func compare(_ old: String?, _ new: String?) throws -> MigrationReport.ClassChanges {
    var changes = MigrationReport.ClassChanges(
      name: new ?? old ?? "", formerName: new == old || new == nil ? nil : old,
      isRetired: new == nil)
    let oldReader = try old.flatMap { try RecordReader(before, $0) }
    let newReader = try new.flatMap { try RecordReader(after, $0) }
    let oldRows = try oldReader?.rows() ?? RowSet()
    let newRows = try newReader?.rows() ?? RowSet()
    try newRows.forEach { row in
      guard oldRows.contains(row) else {
        changes.insertedCount += 1
        if changes.insertedCount <= Self.exampleCount {
          changes.examples.append("inserted " + text(row, newReader))
        }
        return
      }
      guard try oldReader?.bytes(row) != newReader?.bytes(row) else { return }
      changes.updatedCount += 1
      if changes.updatedCount <= Self.exampleCount {
        changes.examples.append("updated " + difference(row, oldReader, newReader))
      }
    }
    oldRows.forEach { row in
      guard !newRows.contains(row) else { return }
      changes.deletedCount += 1
      if changes.deletedCount <= Self.exampleCount {
        changes.examples.append("deleted " + text(row, oldReader))
      }
    }
    return changes
  }

  private func values(_ row: UInt32, _ reader: RecordReader?) -> [(name: String, text: String)] {
    guard let record = try? reader?.record(row) else { return [] }
    return record.texts(renamed)
  }

  private func text(_ row: UInt32, _ reader: RecordReader?) -> String {
    let values = values(row, reader).map { "\($0.name): \($0.text)" }
    return "\(reader?.className ?? "")/\(row)  \(values.joined(separator: ", "))"
  }

  private func difference(
    _ row: UInt32, _ oldReader: RecordReader?, _ newReader: RecordReader?
  ) -> String {
    let (old, new) = (values(row, oldReader), values(row, newReader))
    var parts = new.compactMap { name, text -> String? in
      guard let before = old.first(where: { $0.name == name })?.text else {
        return "\(name): \(text), new"
      }
      return before == text ? nil : "\(name): \(before) -> \(text)"
    }
    parts += old.filter { value in !new.contains { $0.name == value.name } }
      .map { "\($0.name): \($0.text), gone" }
    let changes = parts.isEmpty ? "in another layout" : parts.joined(separator: ", ")
    return "\(newReader?.className ?? "")/\(row)  \(changes)"
  }
}

extension RowSet {
  fileprivate func forEach(_ body: (UInt32) throws -> Void) rethrows {
    var last: UInt32 = 0
    while let row = first(after: last) {
      try body(row)
      last = row
    }
  }
}
