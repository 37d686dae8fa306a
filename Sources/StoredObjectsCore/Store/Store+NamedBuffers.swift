import Files
import StoreEngine

extension Store {
  /// Sets the buffer with a name, such as for settings, a root object or an ordered list.
  ///
  ///     try store.setBuffer(named: "Favorite") { $0.write(song) }
  ///
  /// The next save writes it. Insert the objects that it refers to first. A later call for the same
  /// name replaces the buffer. The save throws `conflict` if another store has saved the name since
  /// this store was made, or last read or saved it.
  ///
  /// Complexity: linear in the size of the buffer.
  ///
  /// - Parameters:
  ///   - name: A name that is not empty, does not end in "..layouts", and is not "..migrations".
  ///   - write: Writes to an empty buffer.
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidName`, or `notEncodable` if something can't
  ///   be written, and any error that the closure throws. The name then keeps its buffer.
  public func setBuffer(
    named name: String, _ write: (inout DataBuffer) throws -> Void
  ) throws {
    try validateName(name)
    var buffer = DataBuffer([], store: self)
    try write(&buffer)
    if let failure = buffer.failure {
      throw StoreError(
        .notEncodable, "The buffer \"\(name)\" can't be saved: \(failure).",
        at: .init(path: backend.location, offset: failure.offset), underlying: failure)
    }
    noteChange()
    try noteBuffer(named: name)
    var bytes: [UInt8] = []
    buffer.swapBytes(&bytes)
    pendingNames.set(ExactName(name), sealing: bytes)
    if hasDelegate { tell { $0.storeDidChange(self) } }
  }

  /// Returns the buffer with a name, saved or not; nil if there is none.
  ///
  ///     var buffer = try store.buffer(named: "Favorite")
  ///     let favorite = try buffer?.readObject(of: Song.self)
  ///
  /// Complexity: linear in the size of the buffer.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidName`, `damaged`, `ioError` or `closed`.
  public func buffer(named name: String) throws(StoreError) -> DataBuffer? {
    try validateName(name)
    forgetChangeElsewhere(named: name)
    guard let sealed = try sealedBuffer(named: name) else { return nil }
    guard let bytes = NamedBufferChecksum.opened(sealed, name: name) else {
      throw StoreError(
        .damaged, "The checksum of the buffer \"\(name)\" is wrong: it is not what was saved.",
        at: .init(path: backend.location))
    }
    return DataBuffer(bytes, store: self)
  }

  /// Forgets earlier saves of a buffer by other stores, because the buffer is about to be read.
  private func forgetChangeElsewhere(named name: String) {
    collectChangesElsewhere()
    if foreign.names == nil { return }
    if pendingNames.contains(ExactName(name)) { return }
    foreign.names?.remove(ExactName(name))
    if foreign.names?.isEmpty == true { foreign.names = nil }
  }

  /// Keeps a buffer for undo before it changes.
  private func noteBuffer(named name: String) throws(StoreError) {
    guard let history, history.bufferName != name else { return }
    history.note(ExactName(name), try sealedBuffer(named: name))
  }

  /// Returns the buffer with its checksum, saved or not.
  func sealedBuffer(named name: String) throws(StoreError) -> [UInt8]? {
    if !pendingNames.isEmpty, let pending = pendingNames[ExactName(name)] { return pending }
    return try backend.sealedBuffer(named: name)
  }

  /// Removes a buffer and its name, with the next save.
  ///
  /// Does nothing if there is no such name.
  ///
  /// Complexity: linear in the size of the buffer, which is kept for undo.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidName`, `damaged`, `ioError` or `closed`.
  public func removeBuffer(named name: String) throws(StoreError) {
    try validateName(name)
    guard try sealedBuffer(named: name) != nil else { return }
    try noteBuffer(named: name)
    pendingNames.set(ExactName(name), to: nil)
    tell { $0.storeDidChange(self) }
  }

  /// Returns the names of all buffers, saved or not, sorted.
  ///
  /// Complexity: O(n log n) in the number of names.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`.
  public func bufferNames() throws(StoreError) -> [String] {
    do {
      var names = Set(try backend.bufferNames().map(ExactName.init))
      for name in pendingNames.names {
        if pendingNames.isRemoval(name) { names.remove(name) } else { names.insert(name) }
      }
      return names.sorted().map(\.text).filter { !InternalBuffers.contain($0) }
    } catch {
      throw .wrapping(error, .ioError, at: .init(path: backend.location))
    }
  }

  private func validateName(_ name: String) throws(StoreError) {
    if InternalBuffers.contain(name) {
      throw StoreError(
        .invalidName,
        """
        Names that end in "\(InternalBuffers.layoutsSuffix)", and "\(InternalBuffers.migrations)", \
        are reserved for the store itself.
        """)
    }
    if name.isEmpty { throw StoreError(.invalidName, "A buffer needs a name that is not empty.") }
  }
}
