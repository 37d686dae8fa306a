public import StoreEngine

/// A writer of a value of any size in constant memory.
///
///     let writer = try store.makeExternalWriter()
///     for try await chunk in upload { try writer.write(chunk) }
///     song.recording = try writer.finish()
///     try store.saveChanges()
///
/// The value is stored when ``finish()`` returns, and belongs to an object from the next save on.
/// If you release the writer before that, it leaves nothing behind.
public final class ExternalWriter {
  private enum Target {
    case storage(ExternalValueWriter, ExternalValues)
    case memory([UInt8])
    case finished
  }

  private var target: Target
  private let location: String

  init(_ values: ExternalValues?, at location: String) throws(StoreError) {
    self.location = location
    do {
      target =
        try values.map { .storage(try ExternalValueWriter($0.storage, .random()), $0) }
        ?? .memory([])
    } catch {
      throw .wrapping(error, .ioError, at: .init(path: location))
    }
  }

  /// Appends bytes.
  ///
  /// Complexity: linear in the number of bytes; in memory, in the size of the value so far.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `noSpace`, `ioError` or `closed`; `invalidArgument`
  ///   after ``finish()``, or after an error.
  public func write(_ bytes: some Collection<UInt8>) throws(StoreError) {
    let target = target
    self.target = .finished
    switch target {
    case .memory(let before): self.target = .memory(before + bytes)
    case .storage(var writer, let values):
      do {
        try writer.write(bytes)
      } catch {
        throw .wrapping(error, .ioError, at: .init(path: location))
      }
      self.target = .storage(writer, values)
    case .finished: throw alreadyFinished
    }
  }

  /// Completes the value.
  ///
  /// Complexity: writes the last 64 KiB at most, and waits for the disk at full durability.
  ///
  /// - Returns: The value, which you assign to properties.
  /// - Throws: The errors of ``write(_:)``.
  public func finish() throws(StoreError) -> ExternalData {
    let target = target
    self.target = .finished
    switch target {
    case .memory(let bytes): return ExternalData(bytes)
    case .storage(var writer, let values):
      do {
        let reference = try writer.finish()
        return ExternalData(ExternalBox(ExternalValue(reference, in: values, isNew: true)))
      } catch {
        throw .wrapping(error, .ioError, at: .init(path: location))
      }
    case .finished: throw alreadyFinished
    }
  }

  private var alreadyFinished: StoreError {
    StoreError(
      .invalidArgument, "The writer has finished, or failed: make another one.",
      at: .init(path: location))
  }
}

@available(*, unavailable) extension ExternalWriter: Sendable {}

extension Store {
  /// Returns a writer for a value that is too large for memory.
  ///
  /// Complexity: constant time; a backend on files creates a file.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `readOnly`, `noSpace`, `ioError` or `closed`.
  public func makeExternalWriter() throws(StoreError) -> ExternalWriter {
    try ExternalWriter(externalsIfKept()?.values, at: backend.location)
  }
}
