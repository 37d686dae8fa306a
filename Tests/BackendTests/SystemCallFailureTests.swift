import Files
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// Sessions in which one system call fails, each call in turn, those that only look included.
@Suite("Failing system calls")
struct SystemCallFailureTests {
  /// A store, what may be in it, and what is done with it.
  private struct Session {
    let kind: TestedBackend
    let directory: String
    let fileSystem: any FileSystem
    /// The possible contents of the store; several if the result of a save is not known.
    var possible: Set<StoreImage>
    /// The contents that backups must have.
    var backups: [(path: String, images: Set<StoreImage>)] = []
    private var backend: (any DirectoryBackend)?
    private var number: UInt8 = 1

    init(
      _ kind: TestedBackend, _ directory: String, _ image: StoreImage,
      in fileSystem: any FileSystem
    ) {
      (self.kind, self.directory, possible) = (kind, directory, [image])
      self.fileSystem = fileSystem
    }

    /// Opens, saves, folds, saves much, compacts, backs up, closes, and opens again.
    mutating func run() throws {
      try read()
      try save(rows: 1)
      try use { try $0.checkpoint() }
      try read()
      try save(rows: 1)
      try save(rows: 40)
      try read()
      try use { _ = try $0.compact { _ in } }
      try save(rows: 1)
      try backUp()
      try close()
      try save(rows: 1)
      try read()
      try close()
    }

    /// Lets a closure use the backend; one that has to be opened again is.
    @discardableResult
    private mutating func use<Result>(
      _ body: (any DirectoryBackend) throws -> Result
    ) throws -> Result? {
      if backend == nil { backend = try? kind.openSmall(directory, in: fileSystem) }
      guard let open = backend else { return nil }
      do {
        return try body(open)
      } catch let error as StoreError {
        if error.code == .reopenNeeded { try close() }
        return nil
      }
    }

    private mutating func save(rows: Int) throws {
      number += 1
      let (number, name) = (number, "Class\(number % 3)")
      let old = possible
      var isCertain = false
      var isOpen = true
      try use { backend in
        do {
          try Self.write(number, rows, name, to: backend)
          isCertain = true
        } catch let error as StoreError {
          isOpen = error.code == .reopenNeeded
          throw error
        }
      }
      let new = Set(old.map { Self.image($0, number, rows, name) })
      if isCertain { possible = new } else if isOpen { possible.formUnion(new) }
    }

    private static func write(
      _ number: UInt8, _ rows: Int, _ name: String, to backend: any DirectoryBackend
    ) throws {
      let songs = try backend.table(named: "Song")
      let others = try backend.table(named: name)
      let words = try backend.orderedTable(OrderedTableName("Words", kind: .data))
      try backend.commit { changes in
        for row in 0..<rows {
          let record = [UInt8](repeating: number, count: rows == 1 ? 9 : 64)
          changes.update(UInt32(100 + row), in: songs, record)
        }
        changes.update(UInt32(number), in: others, [number])
        changes.delete(2, in: songs)
        changes.set("Buffer \(number % 2)", [number])
        changes.set([number], to: [number], in: words)
      }
    }

    private static func image(
      _ old: StoreImage, _ number: UInt8, _ rows: Int, _ name: String
    ) -> StoreImage {
      var image = old
      for row in 0..<rows {
        image.set(
          "Song", UInt32(100 + row), [UInt8](repeating: number, count: rows == 1 ? 9 : 64))
      }
      image.set(name, UInt32(number), [number])
      image.set("Song", 2, nil)
      image.set("Buffer \(number % 2)", [number])
      image.set([number], to: [number], in: OrderedTableName("Words", kind: .data))
      return image
    }

    /// Checks that readable data is right.
    private mutating func read() throws {
      let possible = possible
      guard let image = try use({ try StoreImage(of: $0) }) else { return }
      try #require(possible.contains(image))
      self.possible = [image]
    }

    private mutating func backUp() throws {
      let path = directory + ".backup"
      let isMade = try use { backend in
        try backend.backup(to: path) { _ in }
        return true
      }
      if isMade == true { backups.append((path, possible)) }
    }

    private mutating func close() throws {
      try? backend?.close()
      backend = nil
    }
  }

  /// Runs a session; the name of the call that has failed, or nil if there were not so many.
  private func run(_ kind: TestedBackend, failing call: Int, _ number: Int32) throws -> String? {
    try run(kind, CallFailure(call, number), call, number)
  }

  private func run(
    _ kind: TestedBackend, _ failure: CallFailure, _ call: Int, _ number: Int32
  ) throws -> String? {
    try withTemporaryDirectory(in: .memory) { parent in
      let directory = parent + "/Music"
      let first = try kind.makeStore(directory)
      let fileSystem = failure.fileSystem
      var session = Session(kind, directory, first, in: fileSystem)
      try session.run()
      let failed = failure.failed
      do {
        let image = try kind.image(directory)
        #expect(session.possible.contains(image), "\(failed ?? "") \(call), errno \(number)")
        for backup in session.backups {
          #expect(try backup.images.contains(kind.image(backup.path)), "\(failed ?? "") \(call)")
        }
      } catch {
        Issue.record("\(failed ?? "") \(call), errno \(number): \(error)")
      }
      return failed == nil ? nil : failure.names[call - 1]
    }
  }

  @Test(
    "After any failing call nothing acknowledged is lost, and nothing wrong is read",
    arguments: TestedBackend.onDisk)
  func everyCall(_ kind: TestedBackend) throws {
    let others = [EACCES, EMFILE, ENOSPC, ENOMEM]
    var calls: Set<String> = []
    var generator = Seeds.generator(for: "failing calls of \(kind)")
    // Each of them takes minutes: some, others each time.
    let isThorough = ProcessInfo.processInfo.environment["STOREDOBJECTS_EVERY_CALL"] != nil
    var call = 1
    var sessions = 0
    while let failed = try run(kind, failing: call, EIO) {
      if sessions % 4 == 0 { _ = try run(kind, failing: call, others[sessions / 4 % 4]) }
      calls.insert(failed)
      sessions += 1
      call += isThorough ? 1 : Int.random(in: 1...20, using: &generator)
      try #require(call < 5_000)
    }
    #expect(call > 500)
    // Of each kind at least one, also of those that are rare.
    let all = CallFailure(.max, EIO)
    #expect(try run(kind, all, .max, EIO) == nil)
    let indices = Dictionary(grouping: all.names.indices) { all.names[$0] }
    #expect(Set(indices.keys).isSuperset(of: ["openat", "fstatat", "faccessat"]))
    for (name, indices) in indices where !calls.contains(name) {
      let index = try #require(indices.randomElement(using: &generator))
      #expect(try run(kind, failing: index + 1, EIO) == name)
    }
  }
}
