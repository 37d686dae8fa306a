import Files
import StoredObjectsCore

/// The files of ordered tables on a ``SimulatedDisk``.
struct SimulatedOrderedLocation: OrderedFileLocation {
  let disk: SimulatedDisk
  let location = "simulated disk"
  let isReadOnly: Bool

  func names() throws -> [String] { disk.names }
  func hasFile(_ name: String) -> Bool { disk.names.contains(name) }

  func open(_ name: String) throws -> MappedFile? {
    try disk.open(name, createIfMissing: false).map { file in
      MappedFile(copying: try file.read(file.size(), at: 0), path: name)
    }
  }

  func create(_ name: String, replacing oldName: String) throws -> any OrderedFileSink {
    guard let file = try disk.open(name, createIfMissing: true) else {
      throw StoreError(.ioError, "No file was made.")
    }
    try file.resize(to: 0)
    return Sink(file)
  }

  func rename(_ name: String, to newName: String) throws { try disk.rename(name, to: newName) }
  func remove(_ name: String) { try? disk.remove(name) }

  private final class Sink: OrderedFileSink {
    private let file: MemoryStorage
    private var size = 0

    init(_ file: MemoryStorage) { self.file = file }

    /// In two halves, so that the power can go between them.
    func write(_ bytes: [UInt8]) throws {
      try file.write(Array(bytes[..<(bytes.count / 2)]), at: size)
      try file.write(Array(bytes[(bytes.count / 2)...]), at: size + bytes.count / 2)
      size += bytes.count
    }

    func finish(isSynced: Bool) throws { if isSynced { try file.synchronize() } }
  }
}
