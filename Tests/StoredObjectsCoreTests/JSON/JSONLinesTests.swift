import Foundation
import StoredObjectsTestSupport
import TestFiles
import Testing

@testable import StoreEngine
@testable import StoredObjectsCore

@Suite("Lines of JSON with large texts")
struct JSONLinesTests {
  private func withLines(_ text: String, _ body: (inout JSONLines) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/lines.jsonl"
      try Data(text.utf8).write(to: URL(filePath: path))
      var lines = try JSONLines(path)
      try body(&lines)
    }
  }

  /// The values of all lines, with their large texts.
  private func values(_ lines: inout JSONLines) throws -> [StoredValue] {
    var values: [StoredValue] = []
    while let range = try lines.next() {
      values.append(try lines.whole(JSONReader.value(in: lines.bytes, range)))
    }
    return values
  }

  private func large(_ count: Int, _ character: String = "A") -> String {
    String(repeating: character, count: count)
  }

  @Test("A line of any size is read in the memory of a few pieces")
  func memory() throws {
    let text = #"{"a":""# + large(20_000_000) + #"","b":1}"# + "\n[2]\n"
    try withLines(text) { lines in
      let range = try #require(try lines.next())
      #expect(lines.bytes.count < 1_000_000 && range.count < 200)
      #expect(lines.byteCount == text.utf8.count - 5)
      let value = try JSONReader.value(in: lines.bytes, range)
      guard case .dictionary(let fields) = value, case .string(let standIn)? = fields["a"] else {
        Issue.record("\(value)")
        return
      }
      let large = try #require(lines.large.source(of: standIn))
      var (pieces, count) = (0, 0)
      let isBase64 = try large.forEachDecodedPiece { piece in
        #expect(piece.count <= LargeText.pieceSize)
        (pieces, count) = (pieces + 1, count + piece.count)
      }
      #expect(isBase64 && count == 15_000_000 && pieces > 200)
      let next = try #require(try lines.next())
      #expect(try JSONReader.value(in: lines.bytes, next) == [2] && lines.number == 2)
      #expect(lines.large.isEmpty && lines.position == text.utf8.count)
    }
  }

  @Test("Every line has the value that it has in memory, wherever its large texts begin and end")
  func sameValues() throws {
    var generator = Seeds.generator(for: "lines with large texts")
    let parts = [
      large(LargeText.minimumByteCount - 1), large(LargeText.minimumByteCount),
      large(LargeText.minimumByteCount + 1), large(300_000, "+"), large(150_000) + #"\/"#, "A", "",
      large(70_000) + #"\\"#, large(70_000) + #"\""#, large(70_000, "é"), large(70_000) + " ",
      large(70_000) + #"\u0041"#,
    ]
    for _ in 0..<12 {
      var texts: [String] = []
      for _ in 0..<4 {
        var fields: [String] = []
        for name in 0..<Int.random(in: 1...5, using: &generator) {
          let text = (0..<Int.random(in: 1...2, using: &generator)).map { _ in
            parts.randomElement(using: &generator) ?? ""
          }.joined()
          let isName = Int.random(in: 0..<5, using: &generator) == 0
          fields.append(isName ? #""\#(name)\#(text)" : 1"# : #""\#(name)":["\#(text)" , 7]"#)
        }
        texts.append("{" + fields.joined(separator: ",") + "}")
      }
      let end = Bool.random(using: &generator) ? "\n" : ""
      try withLines(texts.joined(separator: "\n") + end) { lines in
        let found = try values(&lines)
        #expect(try found == texts.map { try JSONReader.value(in: $0) })
      }
    }
  }

  @Test("Damage is found with its offset, and a text without an end is damage")
  func damage() throws {
    let text = #"{"a":""# + large(400_000) + #"","b":tru}"#
    for (text, offset) in [(text, text.utf8.count - 1), ("[\"" + large(400_000), 400_002)] {
      try withLines(text) { lines in
        let range = try #require(try lines.next())
        do {
          _ = try JSONReader.value(in: lines.bytes, range)
          Issue.record("no damage")
        } catch let damage as JSONReader.Damage {
          let found = lines.offset(inFile: damage.offset - range.lowerBound)
          #expect(found == offset)
        }
      }
    }
  }
}
