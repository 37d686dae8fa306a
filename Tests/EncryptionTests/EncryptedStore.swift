import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import Testing

/// Content that tests save and search on the disk.
final class Diary: StoredObject {
  @Content var text = ""

  override class var storedName: String { "SecretDiary" }
  override func readContent(from buffer: inout DataBuffer) throws {
    text = try buffer.readString()
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(text) }
}

/// Another class.
final class Doctor: StoredObject {
  @Content var name = ""

  override class var storedName: String { "PrivateDoctor" }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(name) }
}

/// A store with things in its files, and more in its log.
enum EncryptedStore {
  static let texts = (0..<40).map { "Dear diary number \($0), Für Elise 上を向いて" }
  static let names = ["Dr. Jekyll", "Dr. Moreau"]
  static let bufferName = "ListOfSecrets"
  static let bufferText = "the contents of the list"

  /// All that must not be found.
  static var secrets: [String] {
    texts + names + [bufferName, bufferText, "SecretDiary", "PrivateDoctor", "Dear", "上を"]
  }

  /// Makes a store, and closes it as a process does that is killed, so that its log is not folded.
  static func make(
    _ kind: StoreFormat, _ directory: String, key: (any StoreKey)? = testKey
  ) throws {
    let backend = try kind.open(directory + ".open", key: key)
    let store = Store(backend: backend)
    try store.register(Diary.self, Doctor.self)
    for text in texts.dropLast() { store.insert(diary(text)) }
    try store.setBuffer(named: bufferName) { $0.write(bufferText) }
    try store.saveChanges()
    try fold(backend)
    store.insert(diary(texts.last ?? ""))
    for name in names { store.insert(doctor(name)) }
    try store.saveChanges()
    try FileManager.default.copyItem(atPath: directory + ".open", toPath: directory)
    try backend.close()
    try FileManager.default.removeItem(atPath: directory + ".open")
  }

  /// Lets a test use what ``make(_:_:key:)`` makes, in a directory that is removed afterwards.
  static func use(
    _ kind: StoreFormat, _ body: (_ directory: String, _ path: String) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/Store"
      try make(kind, path)
      try body(directory, path)
    }
  }

  private static func diary(_ text: String) -> Diary {
    let diary = Diary()
    diary.text = text
    return diary
  }

  private static func doctor(_ name: String) -> Doctor {
    let doctor = Doctor()
    doctor.name = name
    return doctor
  }

  /// Folds the log.
  static func fold(_ backend: any StoreBackend) throws {
    try (backend as? any FoldingBackend)?.checkpoint()
  }

  /// Expects all of it.
  static func expectAll(
    _ kind: StoreFormat, _ directory: String, key: (any StoreKey)? = testKey,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let backend = try kind.open(directory, key: key)
    let store = Store(backend: backend)
    try store.register(Diary.self, Doctor.self)
    #expect(
      try store.allObjects(of: Diary.self).map(\.text) == texts, sourceLocation: sourceLocation)
    #expect(
      try store.allObjects(of: Doctor.self).map(\.name) == names, sourceLocation: sourceLocation)
    var buffer = try #require(try store.buffer(named: bufferName))
    #expect(try buffer.readString() == bufferText, sourceLocation: sourceLocation)
    try backend.close()
  }

  private static let orderedNames = [
    OrderedTableName("TitlesOfSecrets", kind: .data), OrderedTableName("Diary.text", kind: .index),
  ]

  /// Adds ordered tables of both kinds: some keys in their files, and more in the log.
  static func addKeys(_ kind: StoreFormat, _ path: String, key: (any StoreKey)?) throws {
    try FileManager.default.copyItem(atPath: path, toPath: path + ".open")
    let backend = try kind.open(path + ".open", key: key)
    for (part, texts) in [texts.prefix(30), texts.suffix(10)].enumerated() {
      var changes = ChangeSet()
      for name in orderedNames {
        let table = try backend.orderedTable(name)
        for text in texts { changes.set(Array(text.utf8), to: [UInt8(part)], in: table) }
      }
      try backend.commit(changes)
      if part == 0 { try fold(backend) }
    }
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: path + ".open", toPath: path)
    try backend.close()
    try FileManager.default.removeItem(atPath: path + ".open")
  }

  /// Expects these.
  static func expectKeys(
    _ kind: StoreFormat, _ path: String, key: (any StoreKey)?,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let backend = try kind.open(path, key: key)
    for name in orderedNames {
      let keys = try backend.keys(in: backend.orderedTable(name)).map(\.key)
      #expect(Set(keys) == Set(texts.map { Array($0.utf8) }), sourceLocation: sourceLocation)
    }
    try backend.close()
  }

  /// The secrets that are readable in the files of a directory, or their names.
  static func leaks(in directory: String) throws -> Set<String> {
    var found: Set<String> = []
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
      let path = directory + "/" + name
      let content = FileManager.default.contents(atPath: path) ?? Data()
      for secret in secrets
      where name.contains(secret) || content.range(of: Data(secret.utf8)) != nil {
        found.insert(secret)
      }
    }
    return found
  }
}

/// A backend that can fold its log on request.
protocol FoldingBackend: StoreBackend {
  func checkpoint() throws
  func compact(progress: (IntegrityProgress) -> Void) throws -> Int
}

extension LoggedBackend: FoldingBackend {}
