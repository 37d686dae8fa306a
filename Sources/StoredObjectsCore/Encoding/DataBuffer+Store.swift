import StoreEngine

extension DataBuffer {
  /// A buffer that turns references into objects of a store, and back.
  init(_ bytes: [UInt8], store: Store?) { self.init(bytes, owner: store) }

  /// Turns references into objects and back; nil in a buffer of one's own.
  var store: Store? {
    // Nothing else is ever put there, and a reference can't wait for a dynamic cast.
    @inline(__always) get { owner.map { unsafe unsafeDowncast($0, to: Store.self) } }
  }
}
