import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Directories that are moved, replaced or removed while their store is open")
struct MovedDirectoryTests {
  private func move(_ old: String, to new: String) throws {
    try FileManager.default.moveItem(atPath: old, toPath: new)
  }

  @Test(
    "A store whose path is taken by another directory continues in its own",
    arguments: TestedBackend.onDisk, [Durability.full, .process, .none])
  func replaced(_ kind: TestedBackend, _ durability: Durability) throws {
    try withTemporaryDirectory { parent in
      let (music, restored) = (parent + "/Music", parent + "/Backup")
      let first = try kind.makeStore(music)
      try kind.open(music).backup(to: restored) { _ in }
      let backend = try kind.open(music, durability: durability)
      try move(music, to: music + ".broken")
      try move(restored, to: music)
      let untouched = try filesBelow(music)
      // Another process has the restored one open.
      let other = try kind.open(music, readOnly: true)

      try kind.write(2, to: backend)
      try backend.checkpoint()
      try kind.write(3, to: backend)
      _ = try backend.compact { _ in }
      try kind.write(4, to: backend)
      try backend.backup(to: parent + "/Copy") { _ in }
      let image = try StoreImage(of: backend)
      #expect(image.tables["Song"]?[2] == [4])
      let findings = try backend.inspect().findings
      #expect(findings.map(\.kind) == [.directoryMoved])
      #expect(findings.first?.message.contains("Music.broken") == true)
      try backend.close()

      #expect(try StoreImage(of: other) == first)
      try other.close()
      #expect(try filesBelow(music) == untouched)
      #expect(try kind.image(music) == first)
      #expect(try kind.image(music + ".broken") == image)
      #expect(try kind.image(parent + "/Copy") == image)
    }
  }

  @Test("A moved store continues, and reports its new path", arguments: TestedBackend.onDisk)
  func moved(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { parent in
      _ = try kind.makeStore(parent + "/Music")
      let backend = try kind.open(parent + "/Music")
      #expect(try backend.inspect().findings == [])
      try move(parent + "/Music", to: parent + "/Elsewhere")
      for number in UInt8(2)..<6 {
        try kind.write(number, to: backend)
        if number.isMultiple(of: 2) { try backend.checkpoint() }
      }
      let image = try StoreImage(of: backend)
      try backend.close()
      #expect(!FileManager.default.fileExists(atPath: parent + "/Music"))
      #expect(try kind.image(parent + "/Elsewhere") == image)
    }
  }

  @Test(
    "Saves and folds of a store with a removed directory fail",
    arguments: TestedBackend.onDisk)
  func removed(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { parent in
      for savesBefore in [false, true] {
        _ = try kind.makeStore(parent + "/Music")
        let backend = try kind.open(parent + "/Music")
        if savesBefore { try kind.write(2, to: backend) }
        try FileManager.default.removeItem(atPath: parent + "/Music")
        #expect(throws: StoreError.self) { try kind.write(3, to: backend) }
        #expect(throws: StoreError.self) { try backend.backup(to: parent + "/Copy") { _ in } }
        if savesBefore { #expect(throws: StoreError.self) { try backend.checkpoint() } }
        try? backend.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent) == [])
      }
    }
  }

  @Test(
    "A removed class file is damage, not an empty table", arguments: TestedBackend.onDisk)
  func vanished(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { parent in
      let music = parent + "/Music"
      let first = try kind.makeStore(music)
      let names = try FileManager.default.contentsOfDirectory(atPath: music)
        .filter { !$0.hasPrefix("Commit.") }
      for name in names {
        let path = music + "/" + name
        // Before it is read for the first time, and between a fold and the next read.
        for folds in [false, true] {
          let backend = try kind.open(music)
          if folds {
            try kind.rewrite(backend)
            try backend.checkpoint()
          }
          try move(path, to: path + ".away")
          #expect(throws: StoreError.self, "\(name)") { _ = try StoreImage(of: backend) }
          #expect(throws: StoreError.self, "\(name)") {
            try kind.rewrite(backend)
            try backend.checkpoint()
          }
          try? backend.close()
          try move(path + ".away", to: path)
          #expect(try kind.image(music) == first)
        }
      }
    }
  }
}

extension TestedBackend {
  /// Writes to all files of ``makeStore(_:)`` what is there already.
  fileprivate func rewrite(_ backend: any DirectoryBackend) throws {
    let tables = try ["Song", "Class1"].map { try backend.table(named: $0) }
    let words = try backend.orderedTable(OrderedTableName("Words", kind: .data))
    try backend.commit { changes in
      for table in tables { changes.update(2, in: table, [1]) }
      changes.set("Favorite", [1])
      changes.set([1], to: [1], in: words)
    }
  }
}
