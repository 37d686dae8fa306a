import Files

/// The file of an external value, open for reading.
final class ExternalFileInput: ExternalInput {
  private let reference: ExternalReference
  private let file: StoreFile
  private let path: String
  private let sealing: Sealing?

  private init(
    _ reference: ExternalReference, _ file: StoreFile, _ path: String, _ sealing: Sealing?
  ) {
    (self.reference, self.file, self.path, self.sealing) = (reference, file, path, sealing)
  }

  static func open(
    _ reference: ExternalReference, _ location: FileLocation, _ sealing: Sealing?
  ) throws(StoreError) -> ExternalFileInput {
    let file = try StoreFile(location, writable: false)
    let input = ExternalFileInput(reference, file, location.path, sealing)
    try input.check()
    return input
  }

  private func check() throws(StoreError) {
    let head = ExternalFileFormat.head(
      reference.id, byteCount: reference.byteCount, isSealed: sealing != nil)
    guard try file.read(ExternalFileFormat.headSize, at: 0) == head else {
      throw damaged("The header is not that of the value's file, or names another size.", 0)
    }
    let size = ExternalFileFormat.fileSize(
      reference.byteCount, overhead: ExternalFileFormat.overhead(sealing))
    let actual = try file.size()
    if actual != size {
      throw damaged("The file has \(actual) bytes and should have \(size).", min(actual, size))
    }
  }

  func chunk(_ number: Int) throws(StoreError) -> [UInt8] {
    let overhead = ExternalFileFormat.overhead(sealing)
    let offset = ExternalFileFormat.offset(of: number, overhead: overhead)
    let count = ExternalChunks.byteCount(of: number, in: reference.byteCount)
    let stored = try file.read(count + overhead, at: offset)
    let chunk = ExternalFileFormat.chunk(stored, number, of: reference.id, sealing)
    guard let chunk, chunk.count == count else { throw wrongChunk(offset) }
    return chunk
  }

  private func wrongChunk(_ offset: Int) -> StoreError {
    if sealing == nil {
      return damaged("The checksum is wrong: this is not what was saved.", offset)
    }
    return StoreError(
      .notAuthentic, "This is not what the store has sealed here.",
      at: .init(path: path, offset: offset))
  }

  private func damaged(_ message: String, _ offset: Int) -> StoreError {
    StoreError(
      .damaged, message + " Restore the file from a backup.",
      at: .init(path: path, offset: offset))
  }
}
