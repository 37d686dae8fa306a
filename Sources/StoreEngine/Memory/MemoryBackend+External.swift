import Locks

extension MemoryBackend {
  /// The external values of the disk.
  public var externalStorage: (any ExternalStorage)? {
    valuesInUse?.values.storage ?? MemoryExternalStorage(self)
  }
}

/// The storage of external values in memory.
private struct MemoryExternalStorage: ExternalStorage {
  private let disk: MemoryDisk
  private let backend: WeakBackend
  private let isReadOnly: Bool

  private final class WeakBackend: Sendable {
    weak let backend: MemoryBackend?
    init(_ backend: MemoryBackend) { self.backend = backend }
  }

  init(_ backend: MemoryBackend) {
    (disk, isReadOnly) = (backend.disk, backend.isReadOnly)
    self.backend = WeakBackend(backend)
  }

  private func checkOpen() throws(StoreError) {
    guard let backend = backend.backend else {
      throw StoreError(.closed, "The backend has been closed.", at: .init(path: "memory"))
    }
    try backend.checkOpen()
  }

  func create(_ id: ExternalID) throws(StoreError) -> any ExternalOutput {
    try checkOpen()
    if isReadOnly {
      throw StoreError.readOnly(at: "memory")
    }
    return Output(disk, id)
  }

  func open(_ reference: ExternalReference) throws(StoreError) -> any ExternalInput {
    try checkOpen()
    guard let chunks = disk.contents.withLock({ $0.values[reference.id] }) else {
      throw StoreError(
        .recordMissing, "The value is gone: another store has removed it. Fetch the object again.",
        at: .init(path: "memory"))
    }
    guard chunks.reduce(0, { $0 + $1.count }) == reference.byteCount else {
      throw StoreError(.damaged, "The value has another size.", at: .init(path: "memory"))
    }
    return Input(chunks: chunks)
  }

  func synchronize() throws(StoreError) { try checkOpen() }

  func remove(_ id: ExternalID) throws(StoreError) {
    try checkOpen()
    disk.contents.withLock { $0.values[id] = nil }
  }

  func list() throws(StoreError) -> [(id: ExternalID, storedByteCount: Int)] {
    try checkOpen()
    return disk.contents.withLock { contents in
      contents.values.map { ($0.key, $0.value.reduce(0) { $0 + $1.count }) }
    }
  }

  private final class Output: ExternalOutput {
    private let disk: MemoryDisk
    private let id: ExternalID
    private let chunks = Locked<[[UInt8]]>([])

    init(_ disk: MemoryDisk, _ id: ExternalID) { (self.disk, self.id) = (disk, id) }

    func append(_ chunk: [UInt8]) { chunks.withLock { $0.append(chunk) } }

    func finish() {
      let chunks = chunks.withLock { $0 }
      disk.contents.withLock { $0.values[id] = chunks }
    }
  }

  private final class Input: ExternalInput {
    private let chunks: [[UInt8]]

    init(chunks: [[UInt8]]) { self.chunks = chunks }

    func chunk(_ number: Int) -> [UInt8] { chunks[number] }
  }
}
