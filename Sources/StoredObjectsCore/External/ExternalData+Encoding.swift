public import StoreEngine

extension ExternalData: DataBufferValue {
  /// The form of the type in records.
  public static var storedType: StoredType { .external }
  /// The size of a tag and a count.
  public static var minimumByteCount: Int { 5 }

  /// Reads the value, or the reference that the record has to it.
  ///
  /// Complexity: linear in the size of a value in the record; constant time for a reference.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError`` with `endOfBuffer`, `countBeyondEnd`,
  ///   `invalidValue`, or `noStore` for a reference in a buffer that belongs to no store.
  public init(from buffer: inout DataBuffer) throws(DataBufferError) {
    let offset = buffer.offset
    switch try ExternalContent(from: &buffer) {
    case .inline(let bytes): self.init(bytes)
    case .outside(let reference):
      guard let store = buffer.store else {
        throw DataBufferError(
          .noStore, at: offset, "an external value needs a buffer that belongs to a store")
      }
      self = try store.externalData(reference, at: offset)
    }
  }

  /// Writes a small value, or a reference to a large value, which is stored first.
  ///
  /// Complexity: linear in the size of the value; constant time for a large value that is stored
  /// already. At full durability, storing a value waits for the disk.
  public func write(to buffer: inout DataBuffer) {
    buffer.writing(.external) { buffer in
      if let store = buffer.store { return store.write(self, to: &buffer) }
      guard byteCount <= StoreConfiguration.defaultExternalThreshold,
        let bytes = box.bytesInMemory
      else { return buffer.fail(.noStore, "a large value needs a buffer that belongs to a store") }
      ExternalContent.inline(bytes).write(to: &buffer)
    }
  }
}

extension DataBuffer {
  /// Writes a value, and stores each larger ``ExternalData`` in it outside of the record.
  ///
  ///     override func writeContent(to buffer: inout DataBuffer) {
  ///       buffer.write(title)
  ///       buffer.write(cover, externalAbove: 4096)
  ///     }
  ///
  /// In a `@Stored` class, write `@External(above: 4096)` instead. All other values have the limit
  /// of the store, ``StoreConfiguration/externalThreshold``. The limit matters for writing only:
  /// the value is read like any other.
  ///
  /// Complexity: that of writing the value. Each ``ExternalData`` above the limit is stored first,
  /// which waits for the disk at full durability.
  ///
  /// - Precondition: The size is not negative.
  public mutating func write(_ value: some DataBufferValue, externalAbove byteCount: Int) {
    storingExternals(above: byteCount) { $0.write(value) }
  }

  /// Writes with a limit for values outside of the record, as `@External` does.
  ///
  /// Complexity: constant time, plus the time of the closure.
  ///
  /// - Precondition: The size is not negative.
  /// - Throws: The errors of the closure.
  public mutating func storingExternals(
    above byteCount: Int, _ write: (inout DataBuffer) throws -> Void
  ) rethrows {
    precondition(byteCount >= 0, "A size must not be negative.")
    let externals = store?.externalsIfKept()
    let outer = externals?.threshold
    externals?.threshold = byteCount
    defer { externals?.threshold = outer }
    try write(&self)
  }
}

extension StoredProperty {
  /// Creates a property whose value may be stored outside of the record.
  public init(_ name: String, _ type: ExternalData.Type) { self.init(name, .external) }
}

extension Store: ExternalContents {
  package func bytes(of reference: ExternalReference) throws(StoreError) -> [UInt8] {
    do {
      return try externalData(reference, at: 0).bytes()
    } catch {
      throw .wrapping(error, .ioError, at: .init(path: backend.location))
    }
  }
}

extension Store {
  /// Returns the value that a record refers to.
  fileprivate func externalData(
    _ reference: ExternalReference, at offset: Int
  ) throws(DataBufferError) -> ExternalData {
    guard let externals = externalsIfKept() else {
      throw DataBufferError(
        .invalidValue, at: offset,
        "the record refers to an external value, and the backend keeps none")
    }
    externals.isUsed = true
    referenceRecorder?.note(reference)
    if let box = externals.kept[reference.id] { return ExternalData(box) }
    // An image may be from a time when the value existed, and it may be removed since.
    if strangers != nil, valueTransfer == nil {
      do {
        _ = try externals.values.storage.open(reference)
      } catch {
        throw DataBufferError(.invalidValue, at: offset, "an earlier value is gone: \(error)")
      }
    }
    return ExternalData(ExternalBox(ExternalValue(reference, in: externals.values)))
  }

  fileprivate func write(_ data: ExternalData, to buffer: inout DataBuffer) {
    let bytes = data.box.bytesInMemory
    let threshold = externals?.threshold ?? configuration.externalThreshold
    if let bytes,
      bytes.count <= threshold || backend.externalStorage == nil || valueTransfer != nil
    {
      return ExternalContent.inline(bytes).write(to: &buffer)
    }
    guard let externals = externalsIfKept() else { return writeAll(of: data, to: &buffer) }
    if valueTransfer != nil, !data.box.isStored(in: externals.values) {
      return writeAll(of: data, to: &buffer)
    }
    switch externals.placement {
    case .stored: break
    case .inline: return writeAll(of: data, to: &buffer)
    case .listed(let reference):
      return ExternalContent.outside(reference(data.box)).write(to: &buffer)
    }
    do {
      let reference = try externals.reference(
        to: data.box, isImage: strangers != nil || !isEncoding, at: buffer.byteCount)
      ExternalContent.outside(reference).write(to: &buffer)
    } catch {
      externals.failure = .wrapping(error, .ioError, at: .init(path: backend.location))
      buffer.fail(.invalidValue, "an external value can't be written: \(error)")
    }
  }

  /// Writes a value into the record, regardless of its size.
  private func writeAll(of data: ExternalData, to buffer: inout DataBuffer) {
    do {
      ExternalContent.inline(try data.bytes()).write(to: &buffer)
    } catch {
      buffer.fail(.invalidValue, "an external value can't be read: \(error)")
    }
  }
}
