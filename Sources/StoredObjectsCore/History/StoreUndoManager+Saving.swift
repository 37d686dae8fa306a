// An undo history that is saved with its changes. A named buffer holds it, which every save writes
// in the same commit as the records, so that both are saved or neither is.

import StoreEngine

extension StoreUndoManager {
  /// Creates an undo manager with the history that earlier runs have saved in a store, if any.
  ///
  ///     store.undoManager = try StoreUndoManager(savedIn: store, as: "Undo")
  ///
  /// From then on, every save writes the history. So a later run of the program can undo the
  /// changes of this one. Steps with references to objects that were never inserted are not saved,
  /// nor are the steps before them.
  ///
  /// Complexity: Each save writes the whole history.
  ///
  /// - Parameters:
  ///   - store: A store with all its classes registered.
  ///   - name: The named buffer to use, see ``Store/setBuffer(named:_:)``.
  ///   - levelsOfUndo: The number of steps to keep; 0 for any number.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`.
  public convenience init(
    savedIn store: Store, as name: String, levelsOfUndo: Int = 100
  ) throws(StoreError) {
    self.init(levelsOfUndo: levelsOfUndo, bufferName: name)
    guard var buffer = try store.buffer(named: name) else { return }
    do {
      let undo = try UndoStep.readAll(from: &buffer)
      resume(undo: undo, redo: try UndoStep.readAll(from: &buffer))
    } catch {
      throw .wrapping(error, .damaged, at: .init(path: store.backend.location))
    }
  }

  /// Returns the bytes of the history.
  func encoded() -> [UInt8] {
    var buffer = DataBuffer()
    UndoStep.write(undoSteps + (current.isEmpty ? [] : [current]), to: &buffer)
    UndoStep.write(redoSteps, to: &buffer)
    return buffer.bytes
  }
}

extension Store {
  /// Adds the history to a save.
  func saveHistory() throws(StoreError) {
    guard let history else { return }
    history.willSave()
    guard let name = history.bufferName, history.hasNews else { return }
    history.shrink { key in
      guard let entry = registration(classID: key.classID),
        let object = try? object(entry, rowID: key.rowID)
      else { return nil }
      return try? image(of: object, entry)
    }
    pendingNames.set(ExactName(name), sealing: history.encoded())
  }
}

// MARK: - Encoding steps

extension UndoStep {
  /// The version of the format; a history of a later version is treated as damage.
  ///
  /// Version 1 has no checksums of inserted objects and of named buffers after a step.
  private static let version: UInt8 = 2

  static func write(_ steps: [UndoStep], to buffer: inout DataBuffer) {
    let first = steps.lastIndex { !$0.isEncodable }.map { $0 + 1 } ?? 0
    buffer.write(version)
    buffer.write(UInt32(steps.count - first))
    for step in steps[first...] { step.write(to: &buffer) }
  }

  static func readAll(from buffer: inout DataBuffer) throws(DataBufferError) -> [UndoStep] {
    let offset = buffer.offset
    let version = try buffer.readUInt8()
    guard 1...Self.version ~= version else {
      throw DataBufferError(.invalidValue, at: offset, "a history in another form")
    }
    var steps: [UndoStep] = []
    for _ in 0..<(try buffer.readCount(minimumElementSize: 12)) {
      steps.append(try UndoStep(from: &buffer, version))
    }
    return steps
  }

  private var isEncodable: Bool {
    images.values.allSatisfy { image in
      if case .content(let content) = image { content.strangers.isEmpty } else { true }
    }
  }

  private func write(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(UInt32(keys.count))
    for key in keys {
      buffer.write(key.classID)
      buffer.write(key.rowID)
      (images[key] ?? .absent).write(to: &buffer)
    }
    buffer.write(UInt32(names.count))
    for (name, bytes) in names.sorted(by: { $0.key < $1.key }) {
      buffer.write(name.text)
      buffer.write(bytes)
      let after = namesAfter[name]
      buffer.write(UInt8(after == nil ? 0 : after == .some(nil) ? 1 : 2))
      if let checksum = after ?? nil { buffer.write(checksum) }
    }
  }

  private init(from buffer: inout DataBuffer, _ version: UInt8) throws(DataBufferError) {
    self.init(name: try buffer.readString())
    for _ in 0..<(try buffer.readCount(minimumElementSize: 6)) {
      let key = ObjectKey(classID: try buffer.readUInt8(), rowID: try buffer.readUInt32())
      note(key, try ObjectImage(from: &buffer))
    }
    for _ in 0..<(try buffer.readCount(minimumElementSize: 5)) {
      let name = ExactName(try buffer.readString())
      names[name] = .some(try buffer.read([UInt8]?.self))
      if version > 1 { try readNameAfter(name, from: &buffer) }
    }
  }

  private mutating func readNameAfter(
    _ name: ExactName, from buffer: inout DataBuffer
  ) throws(DataBufferError) {
    let offset = buffer.offset
    switch try buffer.readUInt8() {
    case 0: break
    case 1: namesAfter[name] = .some(nil)
    case 2: namesAfter[name] = .some(try buffer.readUInt32())
    case let kind:
      throw DataBufferError(.invalidValue, at: offset, "no buffer of a step has the kind \(kind)")
    }
  }
}

extension ObjectImage {
  fileprivate func write(to buffer: inout DataBuffer) {
    switch self {
    case .absent: buffer.write(UInt8(0))
    case .absentBefore(let mark):
      buffer.write(UInt8(4))
      buffer.write(UInt32(mark.count))
      buffer.write(mark.checksum)
    case .unreadable: buffer.write(UInt8(1))
    case .content(let content):
      buffer.write(UInt8(2))
      buffer.write(content.version)
      buffer.write(content.bytes)
    case .difference(let difference):
      buffer.write(UInt8(3))
      difference.write(to: &buffer)
    }
  }

  fileprivate init(from buffer: inout DataBuffer) throws(DataBufferError) {
    let offset = buffer.offset
    switch try buffer.readUInt8() {
    case 0: self = .absent
    case 1: self = .unreadable
    case 2:
      let version = try buffer.readUInt8()
      self = .content(ContentImage(bytes: try buffer.read(), version: version))
    case 3: self = .difference(try ContentDifference(from: &buffer))
    case 4:
      let count = Int(try buffer.readUInt32())
      self = .absentBefore(ContentMark(count: count, checksum: try buffer.readUInt32()))
    case let kind:
      throw DataBufferError(.invalidValue, at: offset, "no image of an object has the kind \(kind)")
    }
  }
}

extension ContentDifference {
  fileprivate func write(to buffer: inout DataBuffer) {
    buffer.write(UInt32(prefix))
    buffer.write(UInt32(suffix))
    buffer.write(UInt32(baseCount))
    buffer.write(baseChecksum)
    buffer.write(version)
    buffer.write(middle)
  }

  fileprivate init(from buffer: inout DataBuffer) throws(DataBufferError) {
    let (prefix, suffix) = (Int(try buffer.readUInt32()), Int(try buffer.readUInt32()))
    let (count, checksum) = (Int(try buffer.readUInt32()), try buffer.readUInt32())
    let version = try buffer.readUInt8()
    self.init(
      prefix: prefix, suffix: suffix, middle: try buffer.read(), version: version,
      baseCount: count, baseChecksum: checksum)
  }
}
