import StoreEngine

extension DataBuffer {
  /// Creates a buffer that converts between references and objects of a store.
  init(_ bytes: [UInt8], store: Store?) { self.init(bytes, owner: store) }

  /// The store that converts between references and objects; nil in a standalone buffer.
  var store: Store? {
    // The owner is always a store, and a dynamic cast would be too slow here.
    @inline(__always) get { owner.map { unsafe unsafeDowncast($0, to: Store.self) } }
  }
}
