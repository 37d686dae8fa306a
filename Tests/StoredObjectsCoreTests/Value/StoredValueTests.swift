import Foundation
import StoredObjectsCore
import Testing

@Suite("Stored values")
struct StoredValueTests {
  /// Nested so deep, by turns in arrays and dictionaries.
  private func nested(_ levels: Int, around value: StoredValue = 1) -> StoredValue {
    var nested = value
    for level in 0..<levels { nested = level % 2 == 0 ? [nested, 2] : ["n": nested] }
    return nested
  }

  @Test("A value nested a million levels deep is freed, compared, hashed and printed")
  func deep() {
    let (value, same, other) = (
      nested(1_000_000), nested(1_000_000), nested(1_000_000, around: 5)
    )
    #expect(value == same)
    #expect(value != other)
    #expect(Set([value, same, other]).count == 2)
    #expect("\(value)".hasPrefix("[\"n\": [[\"n\": [["))
    #expect("\([value])".contains("…"))
    var text = ""
    dump(value, to: &text)
    #expect(text.count < 1000)
  }

  @Test("A thread with a small stack frees a deep value that has other owners of its parts")
  func sharedParts() {
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      var (value, parts): (StoredValue, [StoredValue]) = (1, [])
      for level in 0..<50_000 {
        value = ["x": [value]]
        if level % 1000 == 0 { parts.append(value) }
      }
      parts.shuffle()
      value = .null
      while parts.popLast() != nil {}
      done.signal()
    }
    thread.stackSize = 128 << 10
    thread.start()
    done.wait()
  }

  @Test("A value nested more than 256 levels deep is refused by every encoder")
  func encoding() throws {
    for levels in [1, 100, 256] {
      let data = try JSONEncoder().encode(nested(levels))
      #expect(try JSONDecoder().decode(StoredValue.self, from: data) == nested(levels))
      var buffer = DataBuffer.holding { $0.write(codable: nested(levels)) }
      #expect(try buffer.readCodable(StoredValue.self) == nested(levels))
    }
    for levels in [257, 100_000] {
      #expect(throws: EncodingError.self) { try JSONEncoder().encode(nested(levels)) }
      var buffer = DataBuffer()
      buffer.write(codable: nested(levels))
      #expect(buffer.failure?.code == .notEncodable)
      var inside = DataBuffer()
      inside.write(codable: ["x": [nested(levels - 1)]])
      #expect(inside.failure?.code == .notEncodable)
    }
  }

  @Test("Elements are a collection, whose depth is updated by every change")
  func elements() {
    var elements: StoredValue.Elements = [1, "x"]
    let before = elements
    elements.append([2])
    elements[0] = nil
    elements.remove(at: 1)
    elements.insert(contentsOf: [true, 2.5], at: 1)
    #expect(Array(elements) == [nil, true, 2.5, [2]])
    #expect(before == [1, "x"])
    #expect(StoredValue.array(elements) == [nil, true, 2.5, [2]])
    elements.removeAll()
    #expect(elements.isEmpty && elements == [])
    for _ in 0..<50_000 { elements = [.array(elements)] }
    #expect(elements.count == 1)
  }

  @Test("Fields are found by name, and have the order of the bytes of their names")
  func fields() {
    var fields: StoredValue.Fields = ["b": 1, "a": 2, "b": 3]
    let before = fields
    fields["c"] = ["x"]
    fields["a"] = nil
    fields["none"] = nil
    fields["é"] = 4
    fields["e\u{301}"] = 5
    #expect(
      fields.keys.map { Array($0.utf8) } == ["b", "c", "e\u{301}", "é"].map { Array($0.utf8) })
    #expect(fields["b"] == 3 && fields["c"] == ["x"] && fields["a"] == .none && fields["é"] == 4)
    #expect(before["a"] == 2 && before.count == 2 && before.map(\.key) == ["a", "b"])
    #expect(StoredValue.dictionary(["x": 1]) == ["x": 1])
    #expect("\(StoredValue.dictionary(before))" == "[\"a\": 2, \"b\": 3]")
  }

  @Test("Equal numbers are read by each type that holds them exactly")
  func numbers() throws {
    func read<Value: Codable>(_ value: some Encodable, as type: Value.Type) -> Value? {
      var buffer = DataBuffer.holding { $0.write(codable: value) }
      return try? buffer.readCodable(type)
    }
    #expect(read(2, as: Double.self) == 2 && read(2, as: Float.self) == 2)
    #expect(read([1, 2], as: [Double].self) == [1, 2])
    #expect(read(1 << 54, as: Double.self) == 0x1p54)
    #expect(read((1 << 53) + 1, as: Double.self) == nil)
    #expect(read(2.0, as: Int.self) == nil && read(300, as: UInt8.self) == nil)
    #expect(read(UInt64.max, as: UInt64.self) == .max && read(UInt64.max, as: Int.self) == nil)
  }
}
