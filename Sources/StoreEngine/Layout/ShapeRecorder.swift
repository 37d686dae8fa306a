/// Takes down the kinds of values that are written to a buffer.
@usableFromInline package final class ShapeRecorder {
  /// The kinds, in order.
  package private(set) var types: [StoredType] = []
  /// The number of values that are being written, each a part of the one before.
  private var depth = 0

  package init() {}

  @usableFromInline func begin(_ type: StoredType) {
    if depth == 0 { types.append(type.withoutNames) }
    depth += 1
  }

  @usableFromInline func end() { depth -= 1 }
}

extension DataBuffer {
  /// Writes a value, and takes down its kind where that is wanted.
  @inlinable @inline(__always)
  package mutating func writing(
    _ type: @autoclosure () -> StoredType, _ write: (inout DataBuffer) -> Void
  ) {
    if recorder == nil { return write(&self) }
    recording(type(), write)
  }

  /// The same where it is wanted, apart from the quick way.
  @usableFromInline
  mutating func recording(_ type: StoredType, _ write: (inout DataBuffer) -> Void) {
    recorder?.begin(type)
    write(&self)
    recorder?.end()
  }
}
