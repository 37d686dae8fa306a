import Files
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("The changes of named buffers, for a rewritten file")
struct NameChangesTests {
  /// Names that share beginnings, are empty, long, or the same to a reader only.
  private static let names = ["", "a", "ab", "abcdefghi", "abcdefghij", "é", "e\u{301}", "Ω"]

  @Test("Each key of the file has the change of its name, in any order, or none")
  func found() throws {
    var random = Seeds.generator(for: "changes of names")
    for _ in 0..<50 {
      let chosen = (Self.names + (0..<Int.random(in: 0..<300, using: &random)).map { "n\($0)" })
        .shuffled(using: &random)
      let changed = chosen.prefix(Int.random(in: 0...chosen.count, using: &random))
      let all = changed.enumerated().map { index, name in
        ChangeSet.NameChange(name: name, range: index % 3 == 0 ? nil : index..<index + 1)
      }
      var changes = NameChanges(all, isIndexed: true)
      let ranges = Dictionary(uniqueKeysWithValues: all.map { (Array($0.name.utf8), $0.range) })
      let present = chosen.filter { _ in Bool.random(using: &random) }
      for name in present {
        let key = Array(name.utf8)
        let change = try key.lend { try changes.take($0) }
        #expect(Self.range(of: change) == ranges[key])
        let again = key.lend { changes.change(of: $0) }
        #expect(Self.range(of: again) == ranges[key])
      }
      var left: [[UInt8]] = []
      try changes.forEachLeft { key, _ in left.append([UInt8](copying: key)) }
      let taken = Set(present.map { Array($0.utf8) })
      #expect(
        left
          == all.filter { $0.range != nil }.map { Array($0.name.utf8) }
          .filter { !taken.contains($0) })
    }
  }

  /// Nil for no change, the range of what is written, nil for what is removed.
  private static func range(of change: KeyChange) -> Range<Int>?? {
    switch change {
    case .none: nil
    case .deleted: .some(nil)
    case .written(let range): .some(range)
    }
  }
}
