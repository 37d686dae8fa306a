/// A new file and the file that it replaces, by their names in the directory.
public struct Replacement: Hashable, Sendable {
  /// The name of the new file before it is published.
  public let newName: String
  /// The name of the file that it replaces.
  public let name: String
  /// The mark in the new file; nil if it has none.
  public let mark: FileMark?

  /// Creates a replacement.
  public init(newName: String, name: String, mark: FileMark? = nil) {
    self.newName = newName
    self.name = name
    self.mark = mark
  }
}

/// New files that are smaller than those that they replace.
public struct Compaction: Sendable {
  /// The files.
  public var replacements: [Replacement]
  /// The number of bytes by which they are smaller in total.
  public var bytesSaved: Int

  /// Creates a compaction; by default of no files.
  public init(replacements: [Replacement] = [], bytesSaved: Int = 0) {
    self.replacements = replacements
    self.bytesSaved = bytesSaved
  }
}

/// The files that a checkpoint would touch.
public struct PendingFootprint: Sendable {
  /// The tables whose files would change.
  public var tables: [TableID]
  /// Whether the file of the named buffers would change.
  public var hasNames: Bool
}
