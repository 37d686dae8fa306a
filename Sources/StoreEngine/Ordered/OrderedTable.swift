/// A backend's short name for one of its ordered tables.
///
/// The number is meaningful only to the backend that assigned it, and only until that backend is
/// closed.
public struct OrderedTableID: Hashable, Sendable {
  /// The backend's own number for the table, from 0.
  public let index: Int

  /// Creates the ID of the table with this number.
  public init(index: Int) { self.index = index }
}

/// The name of an ordered table, and the meaning of its loss.
///
/// Tables of different kinds may have the same name.
public struct OrderedTableName: Hashable, Sendable, CustomStringConvertible {
  /// The meaning of a table's loss.
  public enum Kind: String, Sendable, CaseIterable {
    /// The table contains data that is nowhere else.
    ///
    /// Its loss is damage, and salvage searches for every key.
    case data = "ordered"
    /// The table can be rebuilt from records.
    ///
    /// If its file is lost or damaged, it is empty until
    /// ``ChangeSet/OrderedTableChanges/clearsFirst`` begins it again. Salvage leaves it out.
    case index
  }

  /// The name, which follows the rules for class names.
  public let name: String
  /// The meaning of its loss.
  public let kind: Kind

  /// The name of its file; stored, because each save of keys writes it.
  package let fileName: String

  /// Creates a name.
  public init(_ name: String, kind: Kind) {
    (self.name, self.kind, fileName) = (name, kind, "\(name).\(kind.rawValue)")
  }

  /// The name and the kind.
  public var description: String { fileName }

  /// Returns the table of a file name; nil for other files.
  package init?(fileName: String) {
    // Byte by byte: each batch of the log has a name, and characters take ten times as long.
    let bytes = fileName.utf8
    let dot = UInt8(ascii: ".")
    guard let end = bytes.lastIndex(of: dot), end > bytes.startIndex else { return nil }
    // A dot with a combining accent is a different character.
    if bytes.first == dot, fileName.hasPrefix(".") { return nil }
    let suffix = bytes[bytes.index(after: end)...]
    if suffix.elementsEqual(Kind.data.rawValue.utf8) {
      kind = .data
    } else if suffix.elementsEqual(Kind.index.rawValue.utf8) {
      kind = .index
    } else {
      return nil
    }
    (name, self.fileName) = (String(fileName[..<end]), fileName)
  }

  /// Throws if the name can't be a file name.
  package func check() throws(StoreError) {
    if let reason = StoreDirectory.reason(againstTable: name) {
      throw StoreError(
        .invalidName, "An ordered table can't be stored under the name \"\(name)\": \(reason).")
    }
  }

  /// Compares names byte by byte.
  ///
  /// Complexity: linear in the length of the names.
  public static func == (left: OrderedTableName, right: OrderedTableName) -> Bool {
    left.kind == right.kind && left.name.utf8.elementsEqual(right.name.utf8)
  }

  /// Hashes the name byte by byte.
  ///
  /// Complexity: linear in the length of the name.
  public func hash(into hasher: inout Hasher) { ExactName(fileName).hash(into: &hasher) }
}
