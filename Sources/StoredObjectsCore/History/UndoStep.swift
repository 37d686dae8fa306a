import StoreEngine

/// One action of the user, as the previous state of every object that it changed.
///
/// Undoing a step creates the reverse step, with the state after the action. Redoing undoes that
/// step.
struct UndoStep {
  var name: String
  /// The objects in the order in which they were changed.
  private(set) var keys: [ObjectKey] = []
  private(set) var images: [ObjectKey: ObjectImage] = [:]
  /// The named buffers, sealed; nil for a name that did not exist.
  var names: [ExactName: [UInt8]?] = [:]
  /// The checksums of the buffers after the step; nil for a name that does not exist then.
  var namesAfter: [ExactName: UInt32?] = [:]

  init(name: String = "") { self.name = name }

  var isEmpty: Bool { keys.isEmpty && names.isEmpty }

  func knows(_ key: ObjectKey) -> Bool { images[key] != nil }

  /// Records the state of an object, unless the step has an earlier one.
  mutating func note(_ key: ObjectKey, _ image: ObjectImage) {
    guard images[key] == nil else { return }
    keys.append(key)
    images[key] = image
  }

  /// Reduces an image to its difference from the state that follows, or marks an absent object.
  mutating func shrink(_ key: ObjectKey, against next: ObjectImage) {
    guard let image = images[key] else { return }
    images[key] = image.shrunk(against: next).marked(with: next)
  }

  /// Appends the later part of the same action.
  mutating func append(_ later: UndoStep) {
    for key in later.keys {
      if let image = later.images[key] { note(key, image) }
    }
    names.merge(later.names) { earlier, _ in earlier }
    namesAfter.merge(later.namesAfter) { _, later in later }
  }
}
