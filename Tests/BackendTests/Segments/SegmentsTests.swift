import Files
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@testable import StoreEngine

@Suite("Segments of large tables", .timeLimit(.minutes(2)))
struct SegmentsTests {
  private typealias Fixture = SegmentsFixture

  @Test(
    "Random saves, folds, merges and openings equal a dictionary",
    arguments: [TestedBackend.tokyoCabinet, .encryptedCDB])
  func random(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "segments, \(kind)")
    var (mergeCount, runCount, lists) = (0, 0, 0)
    for _ in 0..<3 {
      try FoldingFixture.withStore { directory in
        var model: Fixture.Model = [:]
        var backend = try Fixture.open(kind, directory)
        for step in 0..<40 {
          let width = [2000, 2000, 300].randomElement(using: &generator) ?? 1
          // Most keys are new at first, and exist later.
          let start = Int.random(in: 0...6000 - width, using: &generator)
          let count = step == 0 ? 1200 : [1, 20, 100, 400].randomElement(using: &generator) ?? 1
          try Fixture.change(
            count, start..<start + width, &model, on: backend, using: &generator)
          switch Int.random(in: 0..<6, using: &generator) {
          case 0...3: try Fixture.fold(backend)
          case 4:
            try backend.close()
            backend = try Fixture.open(kind, directory)
          default: break
          }
          try Fixture.compare(backend, model, using: &generator)
          if kind == .tokyoCabinet, let list = try? Fixture.list(directory) {
            lists += 1
            (mergeCount, runCount) = (
              mergeCount + (list.mergingCount > 0 ? 1 : 0), max(runCount, list.runs.count)
            )
            #expect(try Fixture.segments(directory) == Fixture.names(list))
          }
        }
        try backend.close()
        #expect(try FoldingFixture.damage(kind, directory).isEmpty)
      }
    }
    // Otherwise the limits are such that nothing was tested.
    if kind == .tokyoCabinet { #expect(lists > 20 && mergeCount > 0 && runCount > 1) }
  }

  @Test("Removing all keys, clearing and saving again leaves one file and no segments")
  func cleared() throws {
    var generator = Seeds.generator(for: "cleared segments")
    try FoldingFixture.withStore { directory in
      var model = try Fixture.prepare(.cdb, directory, using: &generator)
      #expect(try Fixture.list(directory) != nil)
      let backend = try Fixture.open(.cdb, directory)
      var changes = ChangeSet()
      let table = try backend.orderedTable(Fixture.name)
      changes.clear(table)
      changes.set([1], to: [2], in: table)
      try backend.commit(changes)
      try Fixture.fold(backend)
      model = [[1]: [2]]
      try Fixture.compare(backend, model, using: &generator)
      #expect(try Fixture.list(directory) == nil)
      #expect(try Fixture.segments(directory) == [])
      try backend.close()
    }
  }

  @Test("A table that has become small is one file again")
  func shrunk() throws {
    var generator = Seeds.generator(for: "shrunk segments")
    try FoldingFixture.withStore { directory in
      var model = try Fixture.prepare(.cdb, directory, using: &generator)
      let backend = try Fixture.open(.cdb, directory)
      let table = try backend.orderedTable(Fixture.name)
      // The last steps merge what is left.
      for step in 0..<40 {
        var changes = ChangeSet()
        for key in model.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }).prefix(150) {
          changes.set(key, to: nil, in: table)
          model[key] = nil
        }
        changes.set(Fixture.key(0), to: [UInt8(step)], in: table)
        model[Fixture.key(0)] = [UInt8(step)]
        try backend.commit(changes)
        try Fixture.fold(backend)
        try Fixture.compare(backend, model, using: &generator)
      }
      #expect(try Fixture.list(directory) == nil && Fixture.segments(directory) == [])
      try backend.close()
    }
  }

  @Test("Keys that grow from save to save leave earlier parts as they are")
  func growing() throws {
    var generator = Seeds.generator(for: "growing segments")
    try FoldingFixture.withStore { directory in
      var model: Fixture.Model = [:]
      let backend = try Fixture.open(.tokyoCabinet, directory)
      for _ in 0..<2 {
        try Fixture.change(900, 0..<1000, removing: false, &model, on: backend, using: &generator)
        try Fixture.fold(backend)
      }
      let first = try #require(try Fixture.list(directory)).parts
      for step in 0..<20 {
        let numbers = 1000 + 50 * step..<1050 + 50 * step
        try Fixture.change(60, numbers, removing: false, &model, on: backend, using: &generator)
        try Fixture.fold(backend)
      }
      let list = try #require(try Fixture.list(directory))
      #expect(list.parts.count > first.count)
      #expect(Array(list.parts.prefix(first.count - 1)) == Array(first.dropLast()))
      try Fixture.compare(backend, model, using: &generator)
      try backend.close()
    }
  }

  @Test("Processes that share a store read each other's segments")
  func shared() throws {
    var generator = Seeds.generator(for: "shared segments")
    try FoldingFixture.withStore { directory in
      var model: Fixture.Model = [:]
      var limits = Fixture.limits
      (limits.logBytes, limits.filePart) = (3000, 1000)
      func open() throws -> any DirectoryBackend {
        try TestedBackend.cdb.open(directory, sharing: .processes, limits: limits)
      }
      var backends = [try open(), try open(), try open()]
      for step in 0..<60 {
        let index = Int.random(in: 0..<3, using: &generator)
        try Fixture.change(
          step == 0 ? 1200 : 60, 0..<2000, &model, on: backends[index], using: &generator)
        try Fixture.compare(backends[(index + 1) % 3], model, using: &generator)
        if step % 10 == 9 {
          try backends[index].close()
          backends[index] = try open()
        }
      }
      for backend in backends { try backend.close() }
      let list = try #require(try Fixture.list(directory))
      let segments = try Fixture.segments(directory)
      #expect(Set(Fixture.names(list)).isSubset(of: segments))
      #expect(try FoldingFixture.damage(.cdb, directory).isEmpty)
    }
  }

  @Test("A snapshot keeps the segments that it was made with")
  func snapshot() throws {
    var generator = Seeds.generator(for: "snapshot of segments")
    try FoldingFixture.withStore { directory in
      var model = try Fixture.prepare(.cdb, directory, using: &generator)
      let backend = try Fixture.open(.cdb, directory)
      let (snapshot, old) = (try backend.snapshot(), model)
      for _ in 0..<10 {
        try Fixture.change(200, 0..<2000, &model, on: backend, using: &generator)
        try Fixture.fold(backend)
      }
      try Fixture.compare(backend, model, using: &generator)
      try Fixture.compare(snapshot, old, using: &generator)
      try snapshot.close()
      try backend.close()
    }
  }

  @Test(
    "A backup has the segments, also while a fold has begun",
    arguments: [TestedBackend.tokyoCabinet, .encryptedCDB])
  func backup(_ kind: TestedBackend) throws {
    var generator = Seeds.generator(for: "backup of segments")
    try FoldingFixture.withStore { directory in
      var model = try Fixture.prepare(kind, directory, using: &generator)
      let backend = try Fixture.open(kind, directory)
      try Fixture.change(100, 0..<2000, &model, on: backend, using: &generator)
      _ = try #require(backend as? any FoldingBeside).beginFolding()
      try Fixture.change(100, 0..<2000, &model, on: backend, using: &generator)
      try backend.backup(to: directory + " backup") { _ in }
      try backend.close()
      let copy = try Fixture.open(kind, directory + " backup")
      try Fixture.compare(copy, model, using: &generator)
      try copy.close()
      #expect(try FoldingFixture.damage(kind, directory + " backup").isEmpty)
    }
  }
}
