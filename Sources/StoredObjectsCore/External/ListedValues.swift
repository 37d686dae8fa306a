import StoreEngine

/// The catalogue of values outside of records, for a check that compares it with the records.
struct ListedValues {
  private let catalogue: ExternalCatalogue?
  private let isEmpty: Bool

  init(_ backend: any StoreBackend) {
    catalogue = backend.externalStorage == nil ? nil : try? ExternalCatalogue(backend)
    isEmpty = (try? backend.orderedTableNames().contains(ExternalCatalogue.table)) == false
  }

  /// Returns the differences between the catalogue and the references of a record.
  func findings(
    _ values: Set<ExternalID>, _ rowID: UInt32, _ entry: RegisteredClass
  ) -> [StoreFinding] {
    if isEmpty && values.isEmpty { return [] }
    guard let catalogue,
      let listed = try? catalogue.values(of: .init(entry.classID, rowID))
    else { return [] }
    let missing = values.subtracting(listed).map { id in
      StoreFinding(
        .externalValue,
        """
        The object refers to the value \(id), which the list of values does not have for it. Save \
        the object.
        """,
        at: entry.location(rowID))
    }
    return missing
      + Set(listed).subtracting(values).map { id in
        StoreFinding(
          .strayValue, "The value \(id) is kept for the object, which does not refer to it.",
          at: entry.location(rowID))
      }
  }
}
