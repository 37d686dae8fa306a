/// A problem that a check or a salvage has found.
public struct StoreFinding: Sendable, Hashable {
  /// The kind of problem.
  public let kind: Kind
  /// The place, as far as it is known.
  public let location: StoreError.Location
  /// A description of the problem and the remedy, in a sentence or two.
  public let message: String

  /// Creates a finding.
  public init(_ kind: Kind, _ message: String, at location: StoreError.Location = .init()) {
    self.kind = kind
    self.location = location
    self.message = message
  }
}

extension StoreFinding {
  /// The kinds of finding.
  ///
  /// More may be added, so a `switch` needs a default.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind, as in the source.
    public let description: String

    /// A class has records, but no metadata row.
    public static let metadataMissing = Kind(description: "metadataMissing")
    /// A metadata row can't be read.
    public static let metadataDamaged = Kind(description: "metadataDamaged")
    /// A class ID is used twice, or does not match the order in which the class is registered.
    public static let classID = Kind(description: "classID")
    /// No class has a certain ID below the highest: a class file is missing or can't be read.
    public static let classMissing = Kind(description: "classMissing")

    /// A row was never given out: it is 0, or above the last row ID of the metadata row.
    public static let rowOutOfRange = Kind(description: "rowOutOfRange")
    /// The number of records differs from the backend's count, or a row occurs twice.
    public static let countMismatch = Kind(description: "countMismatch")
    /// A checksum is wrong: the bytes are not what was saved in this row.
    public static let checksum = Kind(description: "checksum")
    /// The class can't read a record.
    public static let recordDamaged = Kind(description: "recordDamaged")
    /// A record was written by a later version of its class.
    public static let newerVersion = Kind(description: "newerVersion")
    /// A reference leads to a row that does not exist.
    public static let danglingReference = Kind(description: "danglingReference")

    /// An object refers to another that does not refer back, although they have an inverse.
    public static let oneSided = Kind(description: "oneSided")

    /// A named buffer can't be read, or its name is not valid.
    public static let namedBuffer = Kind(description: "namedBuffer")
    /// A file is damaged, or the system does not allow reading it.
    public static let fileDamaged = Kind(description: "fileDamaged")
    /// An external value is missing, damaged, or not in the list of values.
    public static let externalValue = Kind(description: "externalValue")
    /// No object refers to an external value.
    public static let strayValue = Kind(description: "strayValue")
    /// A file among the class files is not one; if it was one, its content is lost.
    public static let foreignFile = Kind(description: "foreignFile")
    /// An index is lost, damaged, or inconsistent with its class; it can be rebuilt.
    public static let index = Kind(description: "index")
    /// Two rows have the same values in a unique index that was not unique before.
    public static let duplicate = Kind(description: "duplicate")
    /// Part of an encrypted store is not what was sealed in its place.
    public static let notAuthentic = Kind(description: "notAuthentic")
    /// The directory was moved, replaced or removed while the store was open.
    public static let directoryMoved = Kind(description: "directoryMoved")
    /// The commit log is damaged.
    public static let log = Kind(description: "log")
  }
}

extension StoreFinding: CustomStringConvertible {
  /// The kind, the place, and the message.
  public var description: String {
    let location = location.text
    return location.isEmpty ? "\(kind): \(message)" : "\(kind) [\(location)]: \(message)"
  }
}

extension StoreFinding {
  /// Creates a finding from an error.
  package init(_ kind: Kind, _ error: any Error, at location: StoreError.Location = .init()) {
    guard let error = error as? StoreError else {
      self.init(kind, "\(error)", at: location)
      return
    }
    var merged = location
    merged.path = error.location.path ?? location.path
    merged.className = error.location.className ?? location.className
    merged.rowID = error.location.rowID ?? location.rowID
    merged.offset = error.location.offset ?? location.offset
    self.init(error.code == .notAuthentic ? .notAuthentic : kind, error.message, at: merged)
  }
}

extension StoreError.Location {
  /// The known parts of the place, as text.
  var text: String {
    [
      path, line.map { "line \($0)" }, className.map { "class \($0)" }, rowID.map { "row \($0)" },
      property.map { "property \($0)" }, offset.map { "offset \($0)" },
      table.map { "table \($0.debugDescription)" }, key.map { "key \($0.debugDescription)" },
    ].compactMap(\.self).joined(separator: ", ")
  }
}
