import Foundation
import StoredObjectsCore
import TokyoCabinetBackend

/// The times of one class of songs in one run.
struct SongTimes {
  var insert = 0.0
  var save = 0.0
  var fetch = 0.0
  var readNumber = 0.0
  var readString = 0.0
  var setNumber = 0.0
  var append = 0.0

  /// The printed columns: the first three in milliseconds, the others in nanoseconds for one
  /// access.
  static let columns = [
    Column("insert, ms", 0, factor: 1.1) { $0.insert },
    Column("save, ms", 0, factor: 1.1) { $0.save },
    Column("fetch, ms", 0, factor: 1.1) { $0.fetch },
    Column("read a number, ns", 2, summand: 2) { $0.readNumber },
    Column("read a string, ns", 2, summand: 2) { $0.readString },
    Column("set a number, ns", 2) { $0.setNumber },
    Column("append to a list, ns", 2) { $0.append },
  ]
}

/// One of the times, with the limit for `@Stored` relative to the hand-written class.
struct Column: Sendable {
  let name: String
  let digits: Int
  let value: @Sendable (SongTimes) -> Double
  private let limit: (factor: Double, summand: Double)

  init(
    _ name: String, _ digits: Int, factor: Double = .infinity,
    value: @escaping @Sendable (SongTimes) -> Double
  ) {
    (self.name, self.digits, self.value, limit) = (name, digits, value, (factor, 0))
  }

  init(
    _ name: String, _ digits: Int, summand: Double,
    value: @escaping @Sendable (SongTimes) -> Double
  ) {
    (self.name, self.digits, self.value, limit) = (name, digits, value, (1, summand))
  }

  /// Whether the time of the generated class is within its limit.
  func isWithinLimit(handwritten: Double, generated: Double) -> Bool {
    generated <= handwritten * limit.factor + limit.summand
  }
}

/// Returns the median of one column.
func median(_ times: [SongTimes], _ value: (SongTimes) -> Double) -> Double {
  times.map(value).sorted()[times.count / 2]
}

/// A closure that reads and changes properties of objects, and records the nanoseconds of each
/// access.
typealias Accesses<Song> = ([Song], inout SongTimes) -> Void

/// Measures one class in a separate store.
func measure<Song: SongClass>(
  _ type: Song.Type, _ count: Int, accesses: Accesses<Song>
) throws -> SongTimes {
  let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("speedtests-\(UUID().uuidString)").path
  defer { try? FileManager.default.removeItem(atPath: directory) }
  var times = SongTimes()
  try withStore(directory, type) { store in
    times.insert = milliseconds { insert(type, count, in: store) }
    times.save = try milliseconds { try store.saveChanges() }
  }
  try withStore(directory, type) { store in
    var songs: [Song] = []
    times.fetch = try milliseconds { songs = try store.allObjects(of: type) }
    guard songs.count == count, songs[count - 1].title == "Song \(count - 1)" else {
      throw WrongResult()
    }
    accesses(Array(songs.prefix(1000)), &times)
    for song in songs.prefix(1000) { song.songs = [] }
    store.discardChanges()
  }
  return times
}

/// An error of a store that did not return the saved data.
struct WrongResult: Error {}

private func insert<Song: SongClass>(_ type: Song.Type, _ count: Int, in store: Store) {
  for index in 0..<count {
    let song = type.init()
    song.title = "Song \(index)"
    song.seconds = UInt32(index % 600)
    store.insert(song)
  }
}

private func withStore(
  _ directory: String, _ type: StoredObject.Type, _ body: (Store) throws -> Void
) throws {
  let backend = try TokyoCabinetBackend(directory: directory)
  let store = Store(backend: backend)
  try store.register(type)
  try body(store)
  try backend.close()
}

private func milliseconds(_ body: () throws -> Void) rethrows -> Double {
  try ContinuousClock().measure(body) / .milliseconds(1)
}
