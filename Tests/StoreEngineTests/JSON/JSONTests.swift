import Foundation
import StoreEngine
import StoredObjectsTestSupport
import Testing

@Suite("JSON text")
struct JSONTextTests {
  private func text(_ value: StoredValue) throws -> String {
    var bytes: [UInt8] = []
    try JSONWriter.append(value, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  static let examples: [(StoredValue, String)] = [
    (nil, "null"), (true, "true"), (false, "false"), (0, "0"), (-7, "-7"), (10, "10"),
    (999, "999"), (1000, "1000"), (.int(.min), "-9223372036854775808"),
    (.unsigned(.max), "18446744073709551615"), (.double(-0.0), "-0.0"), (2.5, "2.5"),
    (.double(1e300), "1e+300"), (.double(.leastNonzeroMagnitude), "5e-324"), ("", "\"\""),
    ("a\"\\\n\r\t\u{1}é\u{1F600}", "\"a\\\"\\\\\\n\\r\\t\\u0001é😀\""), ([], "[]"), ([:], "{}"),
    ([1, [2, nil], "x"], "[1,[2,null],\"x\"]"),
    (["b": 1, "a": ["c": []]], "{\"a\":{\"c\":[]},\"b\":1}"),
  ]

  @Test("Each value has one text, from which it reads back", arguments: examples)
  func values(value: StoredValue, expected: String) throws {
    #expect(try text(value) == expected)
    let read = try JSONReader.value(in: expected)
    #expect(read == value)
    if case .double(let number) = value, case .double(let other) = read {
      #expect(number.bitPattern == other.bitPattern)
    }
  }

  @Test(
    "Text in other forms is accepted",
    arguments: [
      (" [ 1 , 2 ]\n", [1, 2]), ("1E2", .double(100)), ("-0", .double(-0.0)),
      ("\"\\u00e9\\ud83d\\ude00\\/\\b\\f\"", "é😀/\u{8}\u{C}"),
      ("18446744073709551616", .double(18_446_744_073_709_551_616)),
      ("{\"b\":1,\"a\":2}", ["a": 2, "b": 1]),
    ] as [(String, StoredValue)])
  func otherForms(text: String, value: StoredValue) throws {
    #expect(try JSONReader.value(in: text) == value)
  }

  @Test(
    "Text that is not JSON is refused with the position",
    arguments: [
      ("", 0), ("  ", 2), ("nul", 3), ("[1,]", 3), ("[1 2]", 3), ("{\"a\"}", 4), ("{a:1}", 1),
      ("{\"a\":1,}", 7), ("01", 0), ("-", 1), ("1.", 2), ("1e", 2), (".5", 0), ("+1", 0),
      ("\"a", 2), ("\"\\x\"", 1), ("\"\\ud800\"", 1), ("\"\\udc00\\ud800\"", 1), ("\"\\u12g4\"", 5),
      ("\"\u{1}\"", 1), ("1 2", 2), ("NaN", 0), ("1e999", 0), ("{\"a\":1,\"a\":2}", 13), ("]", 0),
      ("[}", 1), ("'a'", 0),
    ])
  func refused(text: String, offset: Int) {
    #expect { try JSONReader.value(in: text) } throws: { error in
      (error as? JSONReader.Damage)?.offset == offset
    }
  }

  @Test("A text that is not UTF-8 is refused")
  func invalidUTF8() {
    let bytes: [UInt8] = [0x22, 0xFF, 0x22]
    #expect(throws: JSONReader.Damage.self) { try JSONReader.value(in: bytes, 0..<3) }
  }

  @Test("600 levels are read and written; 601 and a million are errors")
  func depth() throws {
    let deep = String(repeating: "[", count: 600) + String(repeating: "]", count: 600)
    #expect(try text(try JSONReader.value(in: deep)) == deep)
    for count in [601, 1_000_000] {
      let deeper = String(repeating: "[", count: count)
      #expect(throws: JSONReader.Damage.self) { try JSONReader.value(in: deeper) }
    }
    var value: StoredValue = []
    for _ in 0..<600 { value = [value] }
    #expect(throws: ValueFailure.self) { try text(value) }
  }

  @Test("NaN, data and dates have no form in JSON")
  func formless() {
    for value: StoredValue in [.double(.nan), .double(.infinity), .data(Data([1])), .date(Date())] {
      #expect(throws: ValueFailure.self) { try text([value]) }
    }
  }

  @Test("Random values read back, and Foundation reads the same text")
  func random() throws {
    var generator = Seeds.generator(for: "random JSON")
    for _ in 0..<2000 {
      let value = randomValue(depth: 4, &generator)
      let text = try text(value)
      #expect(try JSONReader.value(in: text) == value)
      _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    }
  }

  @Test("Changed bytes are a value or an error, and never crash")
  func mutated() throws {
    var generator = Seeds.generator(for: "mutated JSON")
    for _ in 0..<3000 {
      var bytes: [UInt8] = []
      try JSONWriter.append(randomValue(depth: 3, &generator), to: &bytes)
      for _ in 0...Int.random(in: 0..<3, using: &generator) where !bytes.isEmpty {
        let location = Int.random(in: bytes.indices, using: &generator)
        bytes[location] = Array("[]{}\",:\\0-e.u\u{1}ÿ".utf8).randomElement(using: &generator) ?? 0
      }
      guard let value = try? JSONReader.value(in: bytes, bytes.indices) else { continue }
      #expect(try JSONReader.value(in: try text(value)) == value)
    }
  }

  private func randomValue(depth: Int, _ generator: inout SeededGenerator) -> StoredValue {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 7), using: &generator) {
    case 0: return nil
    case 1: return .bool(.random(using: &generator))
    case 2: return .int(.random(in: -1100...1100, using: &generator))
    case 3: return .int(Int64(bitPattern: generator.next()))
    case 4: return (try? StoredValue(generator.next())) ?? nil
    case 5:
      let number = Double(bitPattern: generator.next())
      return .double(number.isFinite ? number : 0.1)
    case 6: return .string(randomText(&generator))
    case 7:
      let count = Int.random(in: 0..<4, using: &generator)
      return .array((0..<count).map { _ in randomValue(depth: depth - 1, &generator) })
    default:
      let count = Int.random(in: 0..<4, using: &generator)
      return .dictionary(
        StoredValue.Fields(
          (0..<count).map { _ in
            (randomText(&generator), randomValue(depth: depth - 1, &generator))
          }))
    }
  }

  private func randomText(_ generator: inout SeededGenerator) -> String {
    let characters = ["a", "\"", "\\", "\n", "\u{0}", "é", "e\u{301}", "😀", "/", "\u{7F}", "z"]
    return (0..<Int.random(in: 0..<6, using: &generator))
      .map { _ in characters.randomElement(using: &generator) ?? "" }.joined()
  }
}

@Suite("Dates as texts")
struct DateTextTests {
  @Test(
    "A date has as many digits as it needs",
    arguments: [
      (0, "2001-01-01T00:00:00Z"), (0.5, "2001-01-01T00:00:00.5Z"),
      (-0.25, "2000-12-31T23:59:59.75Z"),
      (-1, "2000-12-31T23:59:59Z"), (790_000_000.123, "2026-01-13T12:26:40.123Z"),
      (-978_307_200, "1970-01-01T00:00:00Z"), (252_423_993_599, "9999-12-31T23:59:59Z"),
      (-63_113_904_000, "0001-01-01T00:00:00Z"),
      (94_608_000 - 306 * 86_400, "2003-03-01T00:00:00Z"),
      (99_705_600, "2004-02-29T00:00:00Z"),
    ] as [(Double, String)])
  func examples(seconds: Double, text: String) throws {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    #expect(DateText.text(of: date) == text)
    #expect(DateText.date(of: text) == date)
    let foundation = ISO8601DateFormatter().date(from: text)
    // Foundation has the Julian calendar before 1582.
    if seconds == seconds.rounded(), seconds > -1e10 { #expect(foundation == date) }
  }

  @Test(
    "Texts in other forms are not dates",
    arguments: [
      "", "2001-01-01", "2001-01-01T00:00:00", "2001-02-29T00:00:00Z", "2001-13-01T00:00:00Z",
      "2001-01-01T24:00:00Z", "2001-01-01T00:00:60Z", "2001-01-01T00:00:00.Z",
      "2001-01-01T00:00:00.5xZ", "2001-01-01 00:00:00Z", "0000-01-01T00:00:00Z",
      "2001-01-01T00:00:00+01:00", "+001-01-01T00:00:00Z",
    ])
  func others(text: String) { #expect(DateText.date(of: text) == nil) }

  @Test("Dates without an exact text have none")
  func none() {
    let others: [Double] = [
      .nan, .infinity, -0.0, 1e17, 1e-300, 252_423_993_600, -63_113_904_001,
    ]
    for seconds in others {
      #expect(DateText.text(of: Date(timeIntervalSinceReferenceDate: seconds)) == nil)
    }
  }

  @Test("Every text gives the same bits again")
  func random() throws {
    var generator = Seeds.generator(for: "random moments")
    for _ in 0..<5000 {
      let scales: [Double] = [1e-3, 1, 1e5, 1e9, 6e10]
      let scale: Double = scales[Int.random(in: 0..<5, using: &generator)]
      let seconds: Double = Double.random(in: -scale...scale, using: &generator)
      guard let text = DateText.text(of: Date(timeIntervalSinceReferenceDate: seconds)) else {
        #expect(seconds.magnitude < 1e-4)
        continue
      }
      let date = try #require(DateText.date(of: text))
      #expect(date.timeIntervalSinceReferenceDate.bitPattern == seconds.bitPattern)
    }
  }
}
