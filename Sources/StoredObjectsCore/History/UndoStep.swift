import StoreEngine

/// One action of the user: what every object that it touched was like before.
///
/// Undoing one gives another, which says what they were like after: that is what redoing undoes.
struct UndoStep {
  var name: String
  /// The objects in the order in which they were touched.
  private(set) var keys: [ObjectKey] = []
  private(set) var images: [ObjectKey: ObjectImage] = [:]
  /// The named buffers, sealed; nil for a name that was not there.
  var names: [ExactName: [UInt8]?] = [:]
  /// Checksums of the buffers after the step; nil for a name that is not there then.
  var namesAfter: [ExactName: UInt32?] = [:]

  init(name: String = "") { self.name = name }

  var isEmpty: Bool { keys.isEmpty && names.isEmpty }

  func knows(_ key: ObjectKey) -> Bool { images[key] != nil }

  /// Takes down what an object is like, unless that is known from earlier in the step.
  mutating func note(_ key: ObjectKey, _ image: ObjectImage) {
    guard images[key] == nil else { return }
    keys.append(key)
    images[key] = image
  }

  /// Keeps only how an image differs from what came after it, or what came after nothing.
  mutating func shrink(_ key: ObjectKey, against next: ObjectImage) {
    guard let image = images[key] else { return }
    images[key] = image.shrunk(against: next).marked(with: next)
  }

  /// Takes in the later half of the same action.
  mutating func append(_ later: UndoStep) {
    for key in later.keys {
      if let image = later.images[key] { note(key, image) }
    }
    names.merge(later.names) { earlier, _ in earlier }
    namesAfter.merge(later.namesAfter) { _, later in later }
  }
}
