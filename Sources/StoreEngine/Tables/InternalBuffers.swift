/// Named buffers that are the store's own, and not the application's.
package enum InternalBuffers {
  /// What follows the name of a class in the name of the buffer with its layouts.
  package static let layoutsSuffix = "..layouts"

  /// The buffer with the migrations that the store has taken.
  package static let migrations = "..migrations"

  /// Whether a buffer is the store's own.
  package static func contain(_ name: String) -> Bool {
    name.hasSuffix(layoutsSuffix) || name == migrations
  }
}
