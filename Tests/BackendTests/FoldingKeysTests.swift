import Files
import Foundation
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoreEngine
@testable import StoredObjectsCore

/// Ordered tables whose pending keys are folded while saves go on.
@Suite("Folding keys during saves")
struct FoldingKeysTests {
  private typealias Fixture = FoldingFixture
  private typealias Model = [[UInt8]: [UInt8]]

  private func model(_ backend: any DirectoryBackend, _ table: OrderedTableID) throws -> Model {
    var found: Model = [:]
    _ = try backend.scanKeys(of: table, KeyRange(), isReversed: false) { key, value in
      found[[UInt8](copying: key)] = [UInt8](copying: value)
      return .next
    }
    #expect(try backend.keyCount(in: table, KeyRange()) == found.count)
    return found
  }

  @Test(
    "Saves of a few keys and of thousands, folds and openings in any order equal a dictionary",
    arguments: [TestedBackend.tokyoCabinet, .encryptedCDB])
  func random(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "folding keys, \(kind)")
    let name = OrderedTableName("Words", kind: .data)
    var limits = CheckpointLimits(logBytes: 1 << 30, bulkBytes: 1 << 30)
    limits.foldsOnThread = false
    for _ in 0..<4 {
      try Fixture.withStore { directory in
        var wanted: Model = [:]
        var backend = try kind.open(directory, limits: limits)
        for step in 0..<40 {
          let table = try backend.orderedTable(name)
          let count = [1, 3, 40, 1500].randomElement(using: &generator) ?? 1
          var changes = ChangeSet()
          if Int.random(in: 0..<15, using: &generator) == 0 {
            changes.clear(table)
            wanted = [:]
          }
          for _ in 0..<count {
            let number = Int.random(in: 0..<3000, using: &generator)
            let key = Array("word \(number)".utf8)
            let isRemoval = Int.random(in: 0..<3, using: &generator) == 0
            let value = isRemoval ? nil : [UInt8(step)]
            changes.set(key, to: value, in: table)
            wanted[key] = value
          }
          try backend.commit(changes)
          let folding = try #require(backend as? any FoldingBeside)
          switch Int.random(in: 0..<9, using: &generator) {
          case 0, 1: _ = try folding.beginFolding()
          case 2: try folding.endFolding()
          case 3:
            try backend.close()
            backend = try kind.open(directory, limits: limits)
          default: break
          }
          let isSame = try model(backend, backend.orderedTable(name)) == wanted
          try #require(isSame)
        }
        try backend.close()
        #expect(try Fixture.damage(kind, directory).isEmpty)
      }
    }
  }

  @Test("A lost index that was begun again gets the keys of saves during the fold")
  func lostIndex() throws {
    let name = OrderedTableName("Titles", kind: .index)
    try Fixture.withStore { directory in
      func set(_ key: UInt8, _ backend: any DirectoryBackend, begins: Bool = false) throws {
        var changes = ChangeSet()
        let table = try backend.orderedTable(name)
        if begins { changes.clear(table) }
        changes.set([key], to: [key], in: table)
        try backend.commit(changes)
      }
      var (backend, folding) = try Fixture.open(.cdb, directory)
      try set(1, backend)
      try backend.close()
      try Data([1, 2, 3]).write(to: URL(filePath: directory + "/" + name.fileName))

      (backend, folding) = try Fixture.open(.cdb, directory)
      // Nothing is added to what is not whole.
      try set(2, backend)
      #expect(try model(backend, backend.orderedTable(name)) == [:])
      try set(3, backend, begins: true)
      #expect(try folding.beginFolding())
      try set(4, backend)
      let wanted: Model = [[3]: [3], [4]: [4]]
      #expect(try model(backend, backend.orderedTable(name)) == wanted)
      try folding.endFolding()
      #expect(try model(backend, backend.orderedTable(name)) == wanted)
      try backend.close()
      backend = try Fixture.open(.cdb, directory).backend
      #expect(try model(backend, backend.orderedTable(name)) == wanted)
      try backend.close()
    }
  }
}
