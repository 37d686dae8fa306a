import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import Testing

/// A store of two classes and a buffer, all of which each save sets to one number.
private struct NumberedStore {
  let kind: StoreFormat
  let key: (any StoreKey)?
  let path: String

  static let classes = ["Left", "Right"]
  static let numbers = OrderedTableName("numbers", kind: .data)
  static let index = OrderedTableName("Left.number", kind: .index)

  /// Saves a number everywhere; the rows' numbers grow with it.
  static func save(_ number: UInt8, _ backend: any StoreBackend) throws {
    let tables = try classes.map { try backend.table(named: $0) }
    let ordered = try [numbers, index].map { try backend.orderedTable($0) }
    try backend.commit { changes in
      for table in tables {
        changes.update(2, in: table, [number])
        changes.insert(UInt32(number) + 2, in: table, [number])
      }
      changes.set("number", [number])
      for table in ordered { changes.set([number], to: [number], in: table) }
    }
  }

  func open(readOnly: Bool = false) throws -> any StoreBackend {
    try kind.open(path, key: key, readOnly: readOnly)
  }

  /// The number that was saved last, if all parts of the store agree about it; 0 for an empty
  /// store.
  static func number(_ backend: any StoreBackend) throws -> UInt8? {
    var found: Set<[UInt8]> = []
    for name in classes {
      let records = try backend.records(in: backend.table(named: name))
      let number = records[2]?.first ?? 0
      let expected = number == 0 ? [] : [2] + (1...UInt32(number)).map { $0 + 2 }
      guard records.keys.sorted() == expected else { return nil }
      found.insert([number])
    }
    found.insert(try backend.namedBuffer("number") ?? [0])
    let keys = try backend.keyCount(in: backend.orderedTable(numbers), KeyRange())
    found.insert([UInt8(keys)])
    return found.count == 1 ? found.first?.first : nil
  }

  /// The file of a table, as it is called on the disk.
  func file(of name: String) throws -> String {
    let suffix = kind == .cdb ? ".cdb" : ""
    if key == nil || name == "NamedBuffers" { return path + "/" + name + suffix }
    return path + "/" + (try SealedFiles(kind, path).sealedName(of: name)) + suffix
  }
}

@Suite("Files of different times, or of different stores, in one directory")
struct MixedFilesTests {
  /// Lets a test use a store that was folded with the numbers 1 and 2, and a copy of its files of
  /// number 1.
  private func withHistory(
    _ kind: StoreFormat, _ key: (any StoreKey)?,
    _ body: (_ store: NumberedStore, _ backup: String) throws -> Void
  ) throws {
    try withTemporaryDirectory(in: .memory) { directory in
      let store = NumberedStore(kind: kind, key: key, path: directory + "/Store")
      for number in UInt8(1)...2 {
        let backend = try store.open()
        try NumberedStore.save(number, backend)
        try backend.close()
        if number == 1 {
          try FileManager.default.copyItem(atPath: store.path, toPath: directory + "/Backup")
        }
      }
      try body(store, directory + "/Backup")
    }
  }

  private func put(_ name: String, from backup: String, _ store: NumberedStore) throws {
    let file = store.path + "/" + name
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.copyItem(atPath: backup + "/" + name, toPath: file)
  }

  private func error(_ body: () throws -> Void) -> StoreError? {
    do { try body() } catch { return error as? StoreError }
    return nil
  }

  private func expectRefusal(
    _ store: NumberedStore, _ words: String, className: String? = nil
  ) throws {
    for readOnly in [true, false] {
      let error = error { try store.open(readOnly: readOnly).close() }
      #expect(error?.code == .damaged, "\(words)")
      #expect(error?.message.contains(words) == true, "\(String(describing: error))")
      if let className { #expect(error?.location.className == className) }
    }
    let findings = try store.kind.check(store.path, key: store.key).findings
    #expect(findings.contains { $0.message.contains(words) }, "\(findings)")
    let target = store.path + " salvaged"
    let report = try store.kind.salvage(store.path, to: target, key: store.key)
    #expect(report.losses.contains { $0.message.contains(words) }, "\(report.losses)")
    try FileManager.default.removeItem(atPath: target)
  }

  @Test(
    "A file from a backup is damage, and its name and age are reported",
    arguments: StoreFormat.allCases, [false, true])
  func olderFile(kind: StoreFormat, isEncrypted: Bool) throws {
    let key: (any StoreKey)? = isEncrypted ? testKey : nil
    try withHistory(kind, key) { store, backup in
      let names = try FileManager.default.contentsOfDirectory(atPath: backup)
      for name in names.sorted() where !name.hasPrefix("Commit.") && !name.hasSuffix(".index") {
        let own = try Data(contentsOf: URL(filePath: store.path + "/" + name))
        try put(name, from: backup, store)
        try expectRefusal(store, "older than the rest")
        try own.write(to: URL(filePath: store.path + "/" + name))
      }
      let backend = try store.open()
      #expect(try NumberedStore.number(backend) == 2)
      try backend.close()
      let findings = try store.kind.check(store.path, key: key).findings
      #expect(findings.filter { $0.kind != .metadataMissing } == [])
    }
  }

  @Test("The class is named", arguments: StoreFormat.allCases)
  func className(kind: StoreFormat) throws {
    try withHistory(kind, testKey) { store, backup in
      let name = try store.file(of: "Left").split(separator: "/").last.map(String.init) ?? ""
      try put(name, from: backup, store)
      try expectRefusal(store, "older than the rest", className: "Left")
    }
  }

  @Test("An older index is built again and not used", arguments: StoreFormat.allCases)
  func olderIndex(kind: StoreFormat) throws {
    try withHistory(kind, nil) { store, backup in
      try put("Left.number.index", from: backup, store)
      let backend = try store.open()
      #expect(try NumberedStore.number(backend) == 2)
      #expect(try backend.keyCount(in: backend.orderedTable(NumberedStore.index), KeyRange()) == 0)
      try backend.close()
    }
  }

  @Test("An older log and an older manifest are damage", arguments: StoreFormat.allCases)
  func olderLog(kind: StoreFormat) throws {
    try withHistory(kind, nil) { store, backup in
      let own = try Data(contentsOf: URL(filePath: store.path + "/Commit.log"))
      try put("Commit.log", from: backup, store)
      try expectRefusal(store, "log is older")
      try own.write(to: URL(filePath: store.path + "/Commit.log"))
      try put("Commit.manifest", from: backup, store)
      try expectRefusal(store, "newer")
    }
  }

  @Test(
    "A file of a diverged copy, of another store, or without a mark is damage",
    arguments: StoreFormat.allCases)
  func foreignFile(kind: StoreFormat) throws {
    try withHistory(kind, nil) { store, backup in
      let copy = NumberedStore(kind: kind, key: nil, path: backup)
      let backend = try copy.open()
      try NumberedStore.save(2, backend)
      try backend.close()
      let file = try store.file(of: "Left")
      let name = file.split(separator: "/").last.map(String.init) ?? ""
      try put(name, from: backup, store)
      try expectRefusal(store, "copy of this store")
      let other = NumberedStore(kind: kind, key: nil, path: backup + " other")
      let stranger = try other.open()
      try NumberedStore.save(1, stranger)
      try stranger.close()
      try put(name, from: other.path, store)
      try expectRefusal(store, "another store")
      try EarlierStores.Earlier(kind: kind, isEncrypted: false, generation: "")
        .write(to: backup + " earlier")
      try FileManager.default.removeItem(atPath: file)
      let suffix = kind == .cdb ? ".cdb" : ""
      try FileManager.default.copyItem(
        atPath: backup + " earlier/SecretDiary" + suffix, toPath: file)
      try expectRefusal(store, "none of the store's marks")
      // To use the files as they are is a decision, and can be made.
      try FileManager.default.removeItem(atPath: store.path + "/Commit.manifest")
      try store.open().close()
    }
  }

  @Test(
    "A store copied file by file while in use has a saved state, or is refused",
    arguments: StoreFormat.allCases)
  func copyInUse(kind: StoreFormat) throws {
    var generator = Seeds.generator(for: "copies of a store in use, \(kind)")
    var (whole, refused) = (0, 0)
    for round in 0..<150 {
      let key: (any StoreKey)? = round % 3 == 0 ? testKey : nil
      try withTemporaryDirectory(in: .memory) { directory in
        let store = NumberedStore(kind: kind, key: key, path: directory + "/Store")
        let copy = NumberedStore(kind: kind, key: key, path: directory + "/Copy")
        try copyInUse(store, to: copy, &generator)
        do {
          let reader = try copy.open(readOnly: true)
          let number = try NumberedStore.number(reader)
          #expect(number != nil, "round \(round): a mixture")
          try reader.close()
          let writer = try copy.open()
          #expect(try NumberedStore.number(writer) == number)
          try writer.close()
          whole += 1
        } catch let error as StoreError {
          #expect([.damaged, .notAuthentic].contains(error.code), "round \(round): \(error)")
          refused += 1
        }
      }
    }
    #expect(whole > 10 && refused > 10, "\(whole) states, \(refused) refusals")
  }

  /// Copies file by file in some order, while the store goes on with saves and checkpoints.
  private func copyInUse(
    _ store: NumberedStore, to copy: NumberedStore, _ generator: inout SeededGenerator
  ) throws {
    let backend = try store.open()
    var number: UInt8 = 0
    func goOn() throws {
      number += 1
      try NumberedStore.save(number, backend)
      if Bool.random(using: &generator) { try EncryptedStore.fold(backend) }
    }
    for _ in 0..<3 { try goOn() }
    if Bool.random(using: &generator) { try EncryptedStore.fold(backend) }
    try FileManager.default.createDirectory(
      atPath: copy.path, withIntermediateDirectories: true)
    let names = try FileManager.default.contentsOfDirectory(atPath: store.path)
    for name in names.shuffled(using: &generator) {
      try FileManager.default.copyItem(
        atPath: store.path + "/" + name, toPath: copy.path + "/" + name)
      if Int.random(in: 0..<4, using: &generator) == 0 { try goOn() }
    }
    try backend.close()
  }
}
