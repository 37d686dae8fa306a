// A history that is saved with the changes it can take back: a named buffer holds it, which every
// save writes with the records, so that both are whole or not at all.

import StoreEngine

extension StoreUndoManager {
  /// The history that earlier runs have left in a store, or an empty one.
  ///
  ///     store.undoManager = try StoreUndoManager(savedIn: store, as: "Undo")
  ///
  /// From then on every save writes it, so that what one run of a program has done another can
  /// undo. Steps that hold objects which were never inserted are not saved, nor the ones before
  /// them.
  ///
  /// Complexity: each save writes the whole history.
  ///
  /// - Parameters:
  ///   - store: Has all its classes registered.
  ///   - name: The named buffer to use, see ``Store/setBuffer(named:_:)``.
  ///   - levelsOfUndo: How many steps are kept; 0 for any number.
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

  /// The bytes of the history.
  func encoded() -> [UInt8] {
    var buffer = DataBuffer()
    UndoStep.write(undoSteps + (current.isEmpty ? [] : [current]), to: &buffer)
    UndoStep.write(redoSteps, to: &buffer)
    return buffer.bytes
  }
}

extension Store {
  /// Puts the history among what a save writes.
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
    pendingNames[ExactName(name)] = .some(
      NamedBufferChecksum.sealed(history.encoded(), name: name))
  }
}

// MARK: - The form of a step

extension UndoStep {
  /// The version of the form; a history of a later one is damage.
  ///
  /// Version 1 does not say what a step has left of inserted objects and of named buffers.
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
