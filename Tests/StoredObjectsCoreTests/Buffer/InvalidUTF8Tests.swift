import StoredObjectsCore
import Testing

/// Bytes that are not UTF-8, and the index of the first one at fault.
struct BadText: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let hex: String
  let fault: Int

  init(_ name: String, _ hex: String, _ fault: Int) {
    testDescription = name
    self.hex = hex
    self.fault = fault
  }

  static let all = [
    BadText("a lone continuation byte", "80", 0),
    BadText("a continuation byte behind text", "61 62 BF 63", 2),
    BadText("an overlong NUL", "C0 80", 0),
    BadText("an overlong slash of three bytes", "61 E0 80 AF", 1),
    BadText("an overlong euro sign of four bytes", "F0 82 82 AC", 0),
    BadText("a high surrogate", "61 62 63 ED A0 80", 3),
    BadText("a low surrogate", "ED BF BF", 0),
    BadText("a pair of surrogates", "ED A0 BD ED B8 80", 0),
    BadText("two bytes cut to one", "C3 BC C3", 2),
    BadText("three bytes cut to two", "61 E2 82", 1),
    BadText("four bytes cut to three", "61 F0 9F 8E", 1),
    BadText("a sequence that text cuts short", "E2 82 61", 0),
    BadText("a scalar above 10FFFF", "F4 90 80 80", 0),
    BadText("the byte FE", "61 FE", 1),
    BadText("the byte FF", "FF", 0),
  ]
}

@Suite("Strings that are not UTF-8")
struct InvalidUTF8Tests {
  @Test("Bytes that are not UTF-8 throw at the first byte at fault", arguments: BadText.all)
  func strings(text: BadText) {
    let bytes = DataBuffer(hex: text.hex).bytes
    var buffer = DataBuffer.holding {
      $0.write(UInt16(0))
      $0.write(bytes)
    }
    let error = #expect(throws: DataBufferError.self) {
      _ = try buffer.readUInt16()
      _ = try buffer.readString()
    }
    #expect(error?.code == .invalidUTF8)
    #expect(error?.offset == 2 + 4 + text.fault)
  }

  @Test("A sequence that continues after the end of the string is invalid, not completed")
  func beyondEnd() {
    let fault = DataBuffer.fault(in: "01 00 00 00 C3 BC") { buffer throws(DataBufferError) in
      _ = try buffer.readString()
    }
    #expect(fault == "invalidUTF8 at 4")
  }

  @Test("Keys of dictionaries and raw values of enums are checked as well")
  func elsewhere() {
    let key = DataBuffer.fault(in: "01 00 00 00 01 00 00 00 FF 00") { b throws(DataBufferError) in
      _ = try b.read([String: Bool].self)
    }
    let label = DataBuffer.fault(in: "01 00 00 00 FF") { b throws(DataBufferError) in
      _ = try b.read(Label.self)
    }
    #expect(key == "invalidUTF8 at 8")
    #expect(label == "invalidUTF8 at 4")
  }
}
