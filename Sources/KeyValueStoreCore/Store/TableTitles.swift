import Files
package import StoreEngine

/// Returns descriptions of the ordered tables of a backend that belong to a key-value store.
///
/// This is for tools, which have a backend and no key-value store. Invalid entries of the list are
/// omitted.
///
/// - Throws: `StoreError` if the backend can't be read.
package func keyValueTableTitles(
  _ backend: any StoreBackend
) throws(StoreError) -> [OrderedTableName: String] {
  guard try backend.orderedTableNames().contains(Catalogue.list) else { return [:] }
  var titles = [Catalogue.list: "list of key-value tables"]
  do {
    let list = try backend.orderedTable(Catalogue.list)
    _ = try backend.scanKeys(of: list, KeyRange(), isReversed: false) { key, value in
      guard let name = String(checking: key), let number = Catalogue.number(value, name) else {
        return .next
      }
      titles[Catalogue.items(number)] = "items of the key-value table \"\(name)\""
      titles[Catalogue.expiry(number)] = "expiry times of the key-value table \"\(name)\""
      return .next
    }
  } catch  where error.code == .damaged || error.code == .notAuthentic {}
  return titles
}
