import StoreEngine

/// What follows the name of a class in the names of its ordered tables.
///
/// Classes may have dots in their names, but no two of these.
package enum IndexNames {
  /// Before the name of an index of properties.
  package static let byProperties = "..by "
  /// In the place of one, for the records that a migration has overwritten.
  package static let earlierRecords = "..earlier"
  /// In the place of one, for the full-text index.
  package static let fullText = "..text"
}
