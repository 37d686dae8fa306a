import Files
import StoreEngine

/// The unsaved changes of named buffers.
///
/// Small buffers are in one piece of memory. An array of its own for each would cost more to free,
/// in the order of the names, than all the rest of a save.
struct PendingNames: Sendable {
  private enum Content {
    case removed
    /// A buffer in the common bytes.
    case small(Range<Int>)
    case large([UInt8])
  }

  /// The changes in the order of the first calls; each name has one.
  private var changes: [(name: ExactName, content: Content)] = []
  private var indexes: [ExactName: Int] = [:]
  /// The bytes of the small buffers.
  private var bytes: [UInt8] = []
  /// The number of common bytes that later changes have replaced.
  private var unusedCount = 0

  /// The size from which on a buffer keeps its array, because copying it costs more.
  private static let largeByteCount = 1024
  /// The number of replaced bytes that are left alone.
  private static let toleratedCount = 64 << 10

  var isEmpty: Bool { changes.isEmpty }

  /// The number of names.
  var count: Int { changes.count }

  /// The size of the common bytes, replaced ones included.
  var heldByteCount: Int { bytes.count }

  var names: some Collection<ExactName> { changes.lazy.map(\.name) }

  /// Whether a buffer is set or removed.
  func contains(_ name: ExactName) -> Bool { !isEmpty && indexes[name] != nil }

  /// Returns whether a change removes its buffer.
  func isRemoval(_ name: ExactName) -> Bool {
    guard let index = indexes[name], case .removed = changes[index].content else { return false }
    return true
  }

  /// The bytes of a buffer as they will be saved: nil inside if it is removed, and nil if it has no
  /// unsaved change.
  subscript(name: ExactName) -> [UInt8]?? {
    guard let index = indexes[name] else { return nil }
    switch changes[index].content {
    case .removed: return .some(nil)
    case .small(let range): return Array(bytes[range])
    case .large(let bytes): return bytes
    }
  }

  /// Sets the bytes of a buffer as they will be saved; nil removes it.
  mutating func set(_ name: ExactName, to new: consuming [UInt8]?) {
    guard let new else { return set(name, .removed) }
    if new.count >= Self.largeByteCount { return set(name, .large(new)) }
    let start = bytes.count
    new.lend { bytes.append(copying: $0) }
    set(name, .small(start..<bytes.count))
  }

  /// Sets the bytes of a buffer, which get their checksum.
  mutating func set(_ name: ExactName, sealing new: consuming [UInt8]) {
    guard new.count < Self.largeByteCount else {
      return set(name, .large(NamedBufferChecksum.sealed(new, name: name.text)))
    }
    let start = bytes.count
    NamedBufferChecksum.append(new, name: name.text, to: &bytes)
    set(name, .small(start..<bytes.count))
  }

  private mutating func set(_ name: ExactName, _ content: Content) {
    // Most names are new, and found by one look-up so.
    guard let index = indexes.updateValue(changes.count, forKey: name) else {
      return changes.append((name, content))
    }
    indexes[name] = index
    if case .small(let range) = changes[index].content { unusedCount += range.count }
    changes[index].content = content
    if unusedCount > max(Self.toleratedCount, bytes.count / 2) { compact() }
  }

  /// Copies the bytes that are in use, so that replaced ones take no more memory than these.
  private mutating func compact() {
    var used: [UInt8] = []
    used.reserveCapacity(bytes.count - unusedCount)
    for index in changes.indices {
      guard case .small(let range) = changes[index].content else { continue }
      let start = used.count
      bytes.lend(range) { used.append(copying: $0) }
      changes[index].content = .small(start..<used.count)
    }
    (bytes, unusedCount) = (used, 0)
  }

  /// Calls a closure with all names and the bytes to save, in the order of the names.
  ///
  /// The bytes of a removed buffer are nil.
  func forEachInOrder(_ body: (String, RawSpan?) -> Void) {
    for index in ExactName.indicesInOrder(changes.count, { changes[$0].name.text }) {
      let name = changes[index].name.text
      switch changes[index].content {
      case .removed: body(name, nil)
      case .small(let range): bytes.lend(range) { body(name, $0) }
      case .large(let bytes): bytes.lend { body(name, $0) }
      }
    }
  }
}
