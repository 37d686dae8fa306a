import Foundation
import StoreEngine

/// A key for tests of what the core does with one: it hides bytes from nobody who looks twice, but
/// notices what was changed or moved.
struct TestKey: StoreKey {
  let secret: UInt64

  init(_ secret: UInt64 = 1) { self.secret = secret }

  func makeSeal() -> (seal: any StoreSeal, keyFile: [UInt8]) {
    let store = UInt64.random(in: 0 ... .max)
    return (TestSeal(store: store), content(store))
  }

  func openSeal(_ keyFile: [UInt8]) throws(StoreError) -> any StoreSeal {
    TestSeal(store: try store(keyFile))
  }

  func rewrap(_ keyFile: [UInt8], for newKey: TestKey) throws(StoreError) -> [UInt8] {
    newKey.content(try store(keyFile))
  }

  private func content(_ store: UInt64) -> [UInt8] {
    var buffer = DataBuffer()
    buffer.write(secret)
    buffer.write(store)
    return buffer.bytes
  }

  private func store(_ keyFile: [UInt8]) throws(StoreError) -> UInt64 {
    var buffer = DataBuffer(keyFile)
    guard (try? buffer.readUInt64()) == secret, let store = try? buffer.readUInt64() else {
      throw StoreError(.wrongKey, "This is not the key of the store.")
    }
    return store
  }
}

/// Inverts bits, and appends a sum over the bytes and their place.
struct TestSeal: StoreSeal {
  let store: UInt64
  let overhead = 8

  func scope(of name: String) -> SealedLocation.Scope { .init(sum(Array(name.utf8), 1), store) }

  func seal(_ bytes: RawSpan, at location: SealedLocation, to sealed: inout [UInt8]) {
    let plain = copy(bytes)
    sealed += plain.map { ~$0 }
    sealed += words(sum(plain, at: location))
  }

  func open(_ sealed: RawSpan, at location: SealedLocation, to bytes: inout [UInt8]) -> Bool {
    let sealed = copy(sealed)
    guard sealed.count >= 8 else { return false }
    let plain = sealed.dropLast(8).map { ~$0 }
    guard words(sum(plain, at: location)) == Array(sealed.suffix(8)) else { return false }
    bytes += plain
    return true
  }

  func sealName(_ name: [UInt8]) -> [UInt8] { name.map { ~$0 } + words(sum(name, 2)) }

  func openName(_ sealed: [UInt8]) -> [UInt8]? {
    let name = sealed.dropLast(8).map { ~$0 }
    return words(sum(name, 2)) == Array(sealed.suffix(8)) ? name : nil
  }

  private func sum(_ bytes: [UInt8], at location: SealedLocation) -> UInt64 {
    let number =
      location.number ^ location.scope.high ^ location.scope.low << 1
      ^ UInt64(location.kind.rawValue)
    return sum(bytes, number)
  }

  /// FNV-1a.
  private func sum(_ bytes: [UInt8], _ start: UInt64) -> UInt64 {
    (words(start) + words(store) + bytes).reduce(0xCBF2_9CE4_8422_2325) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
  }

  private func words(_ word: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
  }

  private func copy(_ bytes: RawSpan) -> [UInt8] {
    let span = Span<UInt8>(_bytes: bytes)
    return span.indices.map { span[$0] }
  }
}
