import ArgumentParser
import CDBBackend
import Foundation
import StoredObjectsCore
import TokyoCabinetBackend

/// What the workloads run on.
enum Engine: String, CaseIterable, ExpressibleByArgument {
  case tokyoCabinet = "tokyo-cabinet"
  case cdb
  case memory

  /// What a finished save survives on this engine.
  var durability: String {
    switch self {
    case .tokyoCabinet, .cdb: "full"
    case .memory: "none"
    }
  }
}

/// Where one run keeps its records; a store can be opened in it again and again.
struct Place {
  let engine: Engine
  let directory: String
  private let disk = MemoryDisk()

  init(engine: Engine, directory: String) {
    self.engine = engine
    self.directory = directory
  }

  /// Opens a store, runs the body, and closes the store.
  func withStore(expecting count: Int? = nil, _ body: (Store) throws -> Void) throws {
    let backend: any StoreBackend =
      switch engine {
      case .memory: try MemoryBackend(disk: disk)
      case .cdb: try CDBBackend(directory: directory)
      case .tokyoCabinet:
        try TokyoCabinetBackend(
          directory: directory, configuration: .init(expectedRecordCount: count))
      }
    let store = Store(backend: backend)
    try store.register(Song.self, Playlist.self)
    try body(store)
    try backend.close()
  }

  /// The size of all files.
  var byteCount: Int {
    guard let files = FileManager.default.enumerator(atPath: directory) else { return 0 }
    return files.compactMap { file in
      let path = "\(directory)/\(file)"
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      return (attributes?[.size] as? NSNumber)?.intValue
    }.reduce(0, +)
  }
}
