/// A backend's short name for one of its ordered tables.
///
/// The number means something only to the backend that gave it, and only until that is closed.
public struct OrderedTableID: Hashable, Sendable {
  /// The backend's own number for the table, from 0.
  public let index: Int

  /// Names the table with this number.
  public init(index: Int) { self.index = index }
}

/// What an ordered table is called, and what its loss would mean.
///
/// A table of each kind may have the same name.
public struct OrderedTableName: Hashable, Sendable, CustomStringConvertible {
  /// What the loss of a table means.
  public enum Kind: String, Sendable, CaseIterable {
    /// The table holds what is nowhere else: its loss is damage, and salvage looks for every key.
    case data = "ordered"
    /// The table can be made anew from records: when its file is lost or damaged it is empty until
    /// ``ChangeSet/OrderedTableChanges/clearsFirst`` begins it again, and salvage leaves it out.
    case index
  }

  /// The name, as that of a class.
  public let name: String
  /// What its loss means.
  public let kind: Kind

  /// The name of its file; kept, because each save of keys writes it.
  package let fileName: String

  /// Names a table.
  public init(_ name: String, kind: Kind) {
    (self.name, self.kind, fileName) = (name, kind, "\(name).\(kind.rawValue)")
  }

  /// The name and the kind.
  public var description: String { fileName }

  /// The table that a file is for; nil for other files.
  package init?(fileName: String) {
    guard let dot = fileName.lastIndex(of: "."), dot > fileName.startIndex,
      let kind = Kind(rawValue: String(fileName[fileName.index(after: dot)...]))
    else { return nil }
    self.init(String(fileName[..<dot]), kind: kind)
    // A dot with an accent is another character.
    guard self.fileName.utf8.elementsEqual(fileName.utf8), !name.hasPrefix(".") else { return nil }
  }

  /// Refuses names that can't be those of files.
  package func check() throws(StoreError) {
    if let reason = StoreDirectory.reason(againstTable: name) {
      throw StoreError(
        .invalidName, "An ordered table can't be stored under the name \"\(name)\": \(reason).")
    }
  }

  /// Compares names byte by byte.
  public static func == (left: OrderedTableName, right: OrderedTableName) -> Bool {
    left.kind == right.kind && left.name.utf8.elementsEqual(right.name.utf8)
  }

  /// Hashes the name byte by byte.
  public func hash(into hasher: inout Hasher) { ExactName(fileName).hash(into: &hasher) }
}
