import Files

/// A codec that seals the pages of an ordered table, each for its file and its offset.
struct SealedPages: OrderedPageCodec {
  private let seal: any StoreSeal
  private let scope: SealedLocation.Scope
  private let fileName: String

  init(_ seal: any StoreSeal, fileName: String) {
    (self.seal, self.fileName) = (seal, fileName)
    scope = seal.scope(of: fileName)
  }

  private func location(_ offset: Int) -> SealedLocation {
    SealedLocation(.page, in: scope, number: UInt64(offset))
  }

  func seal(_ page: [UInt8], at offset: Int) throws(StoreError) -> [UInt8] {
    var stored: [UInt8] = []
    stored.reserveCapacity(page.count + seal.overhead)
    try page.lend { (page) throws(StoreError) in
      try seal.seal(page, at: location(offset), to: &stored)
    }
    return stored
  }

  func open(_ stored: RawSpan, at offset: Int) throws(StoreError) -> [UInt8] {
    var page: [UInt8] = []
    guard seal.open(stored, at: location(offset), to: &page) else {
      throw StoreError(
        .notAuthentic, "This page is not what the store has sealed here.",
        at: .init(className: fileName, offset: offset))
    }
    return page
  }
}
