import Files
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine
@testable import StoredObjectsCore

@Suite("Unsaved changes of named buffers")
struct PendingNamesTests {
  /// Returns all names and bytes in the order in which a save writes them.
  private func content(_ names: PendingNames) -> [(name: String, bytes: [UInt8]?)] {
    var all: [(String, [UInt8]?)] = []
    names.forEachInOrder { name, bytes in
      if let bytes { all.append((name, [UInt8](copying: bytes))) } else { all.append((name, nil)) }
    }
    return all
  }

  @Test("They have the last change of each name, small and large, whatever was replaced before")
  func model() {
    var random = Seeds.generator(for: "pending names")
    var (names, model) = (PendingNames(), [String: [UInt8]?]())
    var savepoints: [(PendingNames, [String: [UInt8]?])] = []
    for _ in 0..<3000 {
      let name = "Buffer \(Int.random(in: 0..<60, using: &random))"
      let size = [0, 3, 200, 1016, 1023, 1024, 5000].randomElement(using: &random) ?? 0
      let bytes = [UInt8](repeating: .random(in: 0...255, using: &random), count: size)
      switch Int.random(in: 0..<20, using: &random) {
      case 0:
        names.set(ExactName(name), to: nil)
        model[name] = .some(nil)
      case 1..<8:
        names.set(ExactName(name), to: bytes)
        model[name] = bytes
      case 8: savepoints.append((names, model))
      case 9: if let (early, then) = savepoints.popLast() { (names, model) = (early, then) }
      default:
        names.set(ExactName(name), sealing: bytes)
        model[name] = NamedBufferChecksum.sealed(bytes, name: name)
      }
      #expect(names[ExactName(name)] == model[name])
      #expect(names.contains(ExactName(name)) == (model[name] != nil))
      #expect(names.isRemoval(ExactName(name)) == (model[name] == .some(nil)))
    }
    let sorted = model.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }
    #expect(content(names).map(\.name) == sorted.map(\.key))
    #expect(content(names).map(\.bytes) == sorted.map(\.value))
    #expect(names.count == model.count)
  }

  @Test("A buffer that is set again and again takes the memory of a few")
  func replaced() {
    var names = PendingNames()
    for number in 0..<10_000 {
      names.set(ExactName("Counter"), to: [UInt8](repeating: UInt8(number & 255), count: 500))
    }
    #expect(names[ExactName("Counter")] == [UInt8](repeating: 15, count: 500))
    #expect(names.heldByteCount < 200 << 10)
  }
}
