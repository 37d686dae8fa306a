/// A writer of an external value, chunk by chunk.
package struct ExternalValueWriter {
  private let output: any ExternalOutput
  private let id: ExternalID
  private var buffer: [UInt8] = []
  private var byteCount = 0
  private var checksum = CRC32C()

  /// Begins a value.
  ///
  /// - Throws: ``StoreError``.
  package init(_ storage: any ExternalStorage, _ id: ExternalID) throws(StoreError) {
    (output, self.id) = (try storage.create(id), id)
    buffer.reserveCapacity(ExternalChunks.size)
  }

  /// Adds bytes.
  ///
  /// - Throws: ``StoreError``; the value can't be finished then.
  package mutating func write(_ bytes: some Collection<UInt8>) throws(StoreError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = rest.prefix(ExternalChunks.size - buffer.count)
      buffer.append(contentsOf: part)
      rest = rest.dropFirst(part.count)
      if buffer.count == ExternalChunks.size { try flush() }
    }
  }

  private mutating func flush() throws(StoreError) {
    let chunk = buffer
    buffer = []
    buffer.reserveCapacity(ExternalChunks.size)
    checksum.update(chunk.span)
    byteCount += chunk.count
    try output.append(chunk)
  }

  /// Completes the value.
  ///
  /// - Throws: ``StoreError``.
  package mutating func finish() throws(StoreError) -> ExternalReference {
    if !buffer.isEmpty { try flush() }
    try output.finish()
    return ExternalReference(id: id, byteCount: byteCount, checksum: checksum.value)
  }

  /// Returns the checksum of bytes, as in a reference to them.
  package static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var checksum = CRC32C()
    checksum.update(bytes.span)
    return checksum.value
  }
}
