import Files

/// The migrations that a store has run, and the one in progress.
///
///     0   UInt8   format, 1
///     1   UInt32  number of steps that are done; the name of each, in order
///         UInt32  number of retired classes; the class ID (1) and the name of each
///         UInt8   1 if a rename is under way; then its name
///         UInt8   1 if another step is under way; then its name, and UInt32 number of finished
///                 passes, UInt32 last row that the next pass has visited, UInt32 last row that it
///                 visits
///         UInt8   1 if records of earlier layouts are kept, see Store+EarlierRecords.swift
package struct SavedMigrations: Equatable, Sendable {
  /// The names of the finished steps, in the order of the program.
  package var done: [String] = []
  /// The names of removed classes by their IDs, which are not reused.
  package var retired: [UInt8: String] = [:]
  /// The rename in progress.
  package var renaming: String?
  /// The step in progress that is not a rename; nil between steps.
  package var current: Progress?
  /// Whether records of earlier layouts are kept for the steps that follow.
  package var keepsEarlierRecords = false

  /// The name of the interrupted step.
  package var interrupted: String? { renaming ?? current?.name }

  /// The progress of a step.
  package struct Progress: Equatable, Sendable {
    package let name: String
    /// The number of finished passes.
    package var passCount: UInt32 = 0
    /// The last row that the next pass has visited; 1 before it visits the first.
    package var lastRow = ClassMetadata.rowID
    /// The last row that the next pass will visit; 0 before the pass begins.
    package var endRow: UInt32 = 0

    /// Creates the progress at the beginning of a step.
    package init(name: String) { self.name = name }

    private init(name: String, passCount: UInt32, lastRow: UInt32, endRow: UInt32) {
      self.name = name
      (self.passCount, self.lastRow, self.endRow) = (passCount, lastRow, endRow)
    }

    fileprivate init(from buffer: inout DataBuffer) throws(DataBufferError) {
      self.init(
        name: try buffer.readString(), passCount: try buffer.readUInt32(),
        lastRow: try buffer.readUInt32(), endRow: try buffer.readUInt32())
    }

    /// Ends the current pass and prepares the next.
    package mutating func finishPass() {
      (passCount, lastRow, endRow) = (passCount + 1, ClassMetadata.rowID, 0)
    }
  }

  package static let bufferName = InternalBuffers.migrations
  private static let version: UInt8 = 1

  /// The bytes of the buffer, including its checksum.
  package var sealed: [UInt8] {
    var buffer = DataBuffer()
    buffer.write(Self.version)
    buffer.write(done)
    buffer.writeCount(retired.count)
    for (classID, name) in retired.sorted(by: { $0.key < $1.key }) {
      buffer.write(classID)
      buffer.write(name)
    }
    buffer.write(renaming)
    buffer.write(current != nil)
    if let current {
      buffer.write(current.name)
      buffer.write(current.passCount)
      buffer.write(current.lastRow)
      buffer.write(current.endRow)
    }
    buffer.write(keepsEarlierRecords)
    return NamedBufferChecksum.sealed(buffer.bytes, name: Self.bufferName)
  }

  /// Creates an empty list of migrations.
  package init() {}

  /// Reads the bytes of the buffer, including its checksum.
  ///
  /// - Throws: ``DataBufferError``, with `invalidValue` for a format of a later release.
  package init(sealed: [UInt8]) throws(DataBufferError) {
    guard let bytes = NamedBufferChecksum.opened(sealed, name: Self.bufferName) else {
      throw DataBufferError(.invalidValue, at: 0, "the checksum is wrong")
    }
    var buffer = DataBuffer(bytes)
    guard try buffer.readUInt8() == Self.version else {
      throw DataBufferError(.invalidValue, at: 0, "written by a later version of this library")
    }
    done = try buffer.read([String].self)
    for _ in 0..<(try buffer.readCount(minimumElementSize: 5)) {
      let classID = try buffer.readUInt8()
      retired[classID] = try buffer.readString()
    }
    renaming = try buffer.read()
    if try buffer.readBool() {
      current = try Progress(from: &buffer)
    }
    keepsEarlierRecords = try buffer.readBool()
    guard buffer.remainingCount == 0 else {
      throw DataBufferError(
        .unreadBytes, at: buffer.offset,
        "bytes after the end of the migrations")
    }
  }
}

extension StoreBackend {
  /// Returns the migrations that the store has run.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `ioError` or `closed`.
  package func savedMigrations() throws(StoreError) -> SavedMigrations {
    do {
      var sealed: [UInt8] = []
      guard try copyNamedBuffer(SavedMigrations.bufferName, to: &sealed) else {
        return SavedMigrations()
      }
      return try SavedMigrations(sealed: sealed)
    } catch let error as DataBufferError {
      throw StoreError(
        .damaged, "The list of migrations is damaged: \(error).", at: .init(path: location),
        underlying: error)
    } catch {
      throw .wrapping(error, .ioError, at: .init(path: location))
    }
  }
}
