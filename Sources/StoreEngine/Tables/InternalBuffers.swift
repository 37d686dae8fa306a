/// The named buffers that belong to the store and not to the application.
package enum InternalBuffers {
  /// The suffix that makes the name of a class the name of the buffer with its layouts.
  package static let layoutsSuffix = "..layouts"

  /// The name of the buffer with the migrations that the store has run.
  package static let migrations = "..migrations"

  /// Whether a buffer belongs to the store.
  package static func contain(_ name: String) -> Bool {
    name.hasSuffix(layoutsSuffix) || name == migrations
  }
}
