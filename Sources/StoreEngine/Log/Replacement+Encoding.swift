extension Replacement {
  /// The payload of a checkpoint: a count, for each file its new and its final name, and then for
  /// each file its mark, or zeros.
  ///
  /// That of a large save begins with its commit, and that of earlier logs with the last commit in
  /// them. Programs from before there were marks read the
  /// names only, and write no more than these.
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

  /// Reads what ``encode(_:of:)`` has made.
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
    if kind != .checkpoint { _ = try Commit(from: &buffer) }
    var names: [(new: String, final: String)] = []
    for _ in 0..<(try buffer.readCount(minimumElementSize: 8)) {
      names.append((try buffer.readString(), try buffer.readString()))
    }
    let marks = payload[buffer.offset...]
    guard marks.isEmpty || marks.count == names.count * FileMark.byteCount else {
      throw DataBufferError(.unreadBytes, at: buffer.offset, "these are no marks of files")
    }
    return names.enumerated().map { index, name in
      let mark = FileMark(marks.dropFirst(index * FileMark.byteCount).prefix(FileMark.byteCount))
      return Replacement(newName: name.new, name: name.final, mark: mark)
    }
  }
}
