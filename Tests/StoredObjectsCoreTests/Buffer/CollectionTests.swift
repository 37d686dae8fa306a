import FoundationEssentials
import StoredObjectsCore
import Testing

@Suite("Optionals and collections in a buffer")
struct CollectionTests {
  @Test("Nested collections read back")
  func nested() throws {
    let value: [String: [Set<UInt16>?]] = [
      "": [], "one": [nil], "many": [[], [1], nil, [2, 3, 65535]],
    ]
    try expectRoundTrip(value)
    try expectRoundTrip([[["deep"], []], []])
    try expectRoundTrip(Set([["a", "b"], ["b", "a"], []]))
    try expectRoundTrip([UInt8(1): ["x": Date.distantPast], 2: [:]])
    try expectRoundTrip([Set([UUID(), UUID()])])
  }

  @Test("Sets and dictionaries of a thousand elements read back")
  func large() throws {
    try expectRoundTrip(Set((0..<1000).map { UInt32($0 * 7) }))
    try expectRoundTrip(Dictionary(uniqueKeysWithValues: (0..<1000).map { ("\($0)", Int64($0)) }))
  }

  @Test("An array keeps its order and its repetitions")
  func order() throws {
    try expectRoundTrip([4, 2, 3, 2] as [UInt32])
  }

  @Test("Every level of an optional of an optional reads back")
  func optionals() throws {
    for value: UInt8??? in [nil, .some(nil), .some(.some(nil)), .some(.some(.some(9)))] {
      try expectRoundTrip(value)
    }
  }

  private func expectRoundTrip<Value: DataBufferValue & Equatable>(_ value: Value) throws {
    var buffer = DataBuffer.holding { $0.write(value) }
    #expect(try buffer.read() == value)
    #expect(buffer.remainingCount == 0)
  }

  @Test("A presence byte other than 0 and 1 is invalid")
  func presence() {
    let fault = DataBuffer.fault(in: "FF 07 00") { buffer throws(DataBufferError) in
      try buffer.skip(1)
      _ = try buffer.read(UInt8?.self)
    }
    #expect(fault == "invalidValue at 1")
  }

  @Test("An element that is already in a set is invalid, where it begins")
  func duplicateElement() {
    let fault = DataBuffer.fault(in: "03 00 00 00  01 00  02 00  01 00") {
      buffer throws(DataBufferError) in
      _ = try buffer.read(Set<UInt16>.self)
    }
    #expect(fault == "invalidValue at 8")
  }

  @Test("A key that is already in a dictionary is invalid, where it begins")
  func duplicateKey() {
    let fault = DataBuffer.fault(in: "02 00 00 00  05 00 01  05 00 01") {
      buffer throws(DataBufferError) in
      _ = try buffer.read([UInt16: Bool].self)
    }
    #expect(fault == "invalidValue at 7")
  }
}
