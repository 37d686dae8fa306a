import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestedBackends
import Testing

/// Random conditions over random data, with saves, deletes, crashes and reopenings in between.
@Suite("Random queries") struct RandomQueryTests {
  /// A place as a process that is killed leaves it: nothing is closed, and what is not saved is
  /// lost.
  private func crashed(_ index: any BackendLocation, _ backend: any StoreBackend) throws
    -> any BackendLocation
  {
    let directory = (index as? DirectoryLocation)?.directory
    guard let directory else {
      try backend.close()
      return index
    }
    let copy = "\(directory)-\(UUID().uuidString)"
    try FileManager.default.copyItem(atPath: directory, toPath: copy)
    try backend.close()
    // Back where it is cleaned up.
    try FileManager.default.removeItem(atPath: directory)
    try FileManager.default.moveItem(atPath: copy, toPath: directory)
    return index
  }

  private func change(_ store: Store, _ generator: inout SeededGenerator) throws {
    var all = try store.allObjects(of: Track.self)
    for _ in 0..<(all.isEmpty ? 80 : Int.random(in: 0..<6, using: &generator)) {
      let track = Track()
      track.fill(&generator, all)
      store.insert(track)
      all.append(track)
    }
    for _ in 0..<Int.random(in: 0..<8, using: &generator) {
      if let track = all.randomElement(using: &generator) {
        track.fill(&generator, all.filter { $0 !== track })
      }
    }
    for _ in 0..<Int.random(in: 0..<3, using: &generator) where all.count > 40 {
      let track = all.remove(at: Int.random(in: 0..<all.count, using: &generator))
      for other in all { other.forget(track) }
      store.delete(track)
    }
  }

  /// Saves, and decides conflicts with another store in one way or the other.
  private func save(_ store: Store, _ generator: inout SeededGenerator) throws {
    do {
      try store.saveChanges()
    } catch {
      guard error.code == .conflict else { throw error }
      if Bool.random(using: &generator) {
        store.discardChanges()
      } else {
        store.keepConflictingChanges()
      }
      try store.saveChanges()
    }
  }

  @Test(
    "Random combinations of conditions match a scan of all objects",
    arguments: TestedBackend.usual)
  func randomConditions(_ kind: TestedBackend) throws {
    try kind.withLocation { start in
      var generator = Seeds.generator(for: "random queries \(kind)")
      var index = start
      for _ in 0..<3 {
        let store = try index.openStore(of: Track.self)
        // Neither of the two ever merges.
        let other = Store(backend: store.backend)
        try other.register(Track.self)
        var held: [Track] = []
        for _ in 0..<3 {
          try change(store, &generator)
          if Bool.random(using: &generator) {
            held = try store.allObjects(of: Track.self).filter { _ in
              Bool.random(using: &generator)
            }
          }
          if Bool.random(using: &generator) {
            try change(other, &generator)
            try save(other, &generator)
          }
          for _ in 0..<8 {
            let tracks = try store.allObjects(of: Track.self)
            let condition = RandomCondition.random(depth: 3, tracks, &generator)
            try QueryComparison.run(
              store, (condition.text, condition.predicate, condition.holds), &generator)
          }
          if Bool.random(using: &generator) { try save(store, &generator) }
          withExtendedLifetime(held) {}
        }
        if Bool.random(using: &generator) {
          index = try crashed(index, store.backend)
        } else {
          try save(store, &generator)
          #expect(try store.check().findings == [])
          try store.backend.close()
        }
      }
    }
  }
}
