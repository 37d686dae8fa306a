extension Replacement {
  /// Returns the payload of a checkpoint: a count, the new and final names of the files, and marks.
  ///
  /// The marks of all files, or zeros, follow the names. The payload of a bulk commit begins with
  /// its commit. That of a checkpoint of earlier logs begins with the last commit in them. Programs
  /// from before marks read and write only the names.
  static func encode(_ replacements: [Replacement], of commit: Commit? = nil) -> [UInt8] {
    var buffer = DataBuffer()
    commit?.encode(to: &buffer)
    buffer.writeCount(replacements.count)
    for replacement in replacements {
      buffer.write(replacement.newName)
      buffer.write(replacement.name)
    }
    let none = [UInt8](repeating: 0, count: FileMark.byteCount)
    return buffer.bytes + replacements.flatMap { $0.mark?.bytes ?? none }
  }

  /// The payload of a checkpoint without files and without a commit.
  private static let nothing = encode([])

  /// Returns the last commit in the logs that a checkpoint of earlier logs covers.
  ///
  /// Earlier versions confirmed such a checkpoint even if a power cut had left no commit in these
  /// logs: then the result is nil, and there are no files.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  static func lastCommit(ofEarlierLogs payload: [UInt8]) throws(StoreError) -> Commit? {
    payload == nothing ? nil : try Commit(payload: payload)
  }

  /// Reads the files of a payload that ``encode(_:of:)`` returned.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  static func decode(
    _ payload: [UInt8], _ kind: CommitLogFormat.Kind
  ) throws(StoreError) -> [Replacement] {
    do throws(DataBufferError) {
      return try replacements(payload, kind)
    } catch {
      throw .inSave(error)
    }
  }

  private static func replacements(
    _ payload: [UInt8], _ kind: CommitLogFormat.Kind
  ) throws(DataBufferError) -> [Replacement] {
    var buffer = DataBuffer(payload)
    if kind == .earlierCheckpoint, payload == nothing { return [] }
    if kind != .checkpoint { _ = try Commit(from: &buffer) }
    var names: [(new: String, final: String)] = []
    for _ in 0..<(try buffer.readCount(minimumElementSize: 8)) {
      names.append((try buffer.readString(), try buffer.readString()))
    }
    let marks = payload[buffer.offset...]
    guard marks.isEmpty || marks.count == names.count * FileMark.byteCount else {
      throw DataBufferError(.unreadBytes, at: buffer.offset, "these are not marks of files")
    }
    return names.enumerated().map { index, name in
      let mark = FileMark(marks.dropFirst(index * FileMark.byteCount).prefix(FileMark.byteCount))
      return Replacement(newName: name.new, name: name.final, mark: mark)
    }
  }
}
