import Files

/// The named buffers that belong to the store and not to the application.
package enum InternalBuffers {
  /// The suffix that makes the name of a class the name of the buffer with its layouts.
  package static let layoutsSuffix = "..layouts"

  /// The name of the buffer with the migrations that the store has run.
  package static let migrations = "..migrations"

  /// Whether a buffer belongs to the store.
  package static func contain(_ name: String) -> Bool {
    // All of them end so, and hardly any other name does.
    let mayBe = name.lendUTF8 { bytes in
      bytes.byteCount > 0 && bytes.loadByte(at: bytes.byteCount - 1) == UInt8(ascii: "s")
    }
    guard mayBe else { return false }
    return name.utf8.suffix(layoutsSuffix.utf8.count).elementsEqual(layoutsSuffix.utf8)
      || name.utf8.elementsEqual(migrations.utf8)
  }
}
