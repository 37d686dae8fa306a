/// The ordered table in which a device that synchronizes keeps its state.
///
/// Its keys belong to the device and its present: going back to an earlier commit leaves them as
/// they are, and a copy of the store does not have them.
package enum SyncTable {
  /// The name of the table.
  package static let name = OrderedTableName("Synchronization", kind: .data)
  /// The key with the state; it exists as long as the store belongs to a device.
  package static let stateKey: [UInt8] = [0]
}

extension StoreBackend {
  /// Whether the store belongs to a device that synchronizes with a server.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  package func isOfDevice() throws(StoreError) -> Bool {
    try withValue(of: SyncTable.stateKey, in: orderedTable(SyncTable.name)) { _ in true } ?? false
  }
}
