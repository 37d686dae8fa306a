/// A recorder of the types of values written to a buffer.
@usableFromInline package final class ShapeRecorder {
  /// The types, in the order of writing.
  package private(set) var types: [StoredType] = []
  /// The number of nested values that are being written.
  private var depth = 0

  package init() {}

  @usableFromInline func begin(_ type: StoredType) {
    if depth == 0 { types.append(type.withoutNames) }
    depth += 1
  }

  @usableFromInline func end() { depth -= 1 }
}

extension DataBuffer {
  /// Writes a value, and records its type if there is a recorder.
  @inlinable @inline(__always)
  package mutating func writing(
    _ type: @autoclosure () -> StoredType, _ write: (inout DataBuffer) -> Void
  ) {
    if recorder == nil { return write(&self) }
    recording(type(), write)
  }

  /// Writes and records a value; separate, to keep the fast path small.
  @usableFromInline
  mutating func recording(_ type: StoredType, _ write: (inout DataBuffer) -> Void) {
    recorder?.begin(type)
    write(&self)
    recorder?.end()
  }
}
