package import StoreEngine

/// How a store of a sync treats values outside of records.
///
/// Such a store leaves each value in the form that the writer of the record has chosen: a value in
/// the record stays there, and a reference stays as it is.
package enum ValueTransfer {
  /// References are only compared: no value is opened, stored or removed.
  case trial
  /// A closure checks each reference that a row gets, before the commit.
  case checked((ExternalReference) throws(StoreError) -> Void)
}

extension StoreBackend {
  /// Whether any layout of a class has values that may be stored outside of records.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged` or `ioError`.
  package func mayHaveExternals(_ className: String) throws(StoreError) -> Bool {
    try savedLayouts(of: className).contains { $0.form.hasExternals }
  }
}
