import StoreEngine

/// The suffixes of class names in the names of ordered tables.
///
/// Class names may contain dots, but are not expected to contain two in a row.
package enum IndexNames {
  /// Precedes the name of an index of properties.
  package static let byProperties = "..by "
  /// Joins the names of the properties of an index, as `@Stored` names it.
  package static let betweenProperties = " and "
  /// The suffix of the table of the records that a migration has overwritten.
  package static let earlierRecords = "..earlier"
  /// The suffix of the table of the full-text index.
  package static let fullText = "..text"
}
