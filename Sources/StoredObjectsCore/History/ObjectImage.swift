import StoreEngine

/// A row of a store, by which steps of the undo history identify objects.
struct ObjectKey: Hashable {
  let classID: UInt8
  let rowID: UInt32
}

/// The content of an object at some time, as its class encodes it.
struct ContentImage {
  /// The content, without the version and the checksum of a record.
  var bytes: [UInt8]
  /// The version of the class that wrote it.
  var version: UInt8
  /// The objects without a row that the content refers to.
  var strangers: [StoredObject] = []

  /// Returns whether both contents are the same.
  func matches(_ other: ContentImage) -> Bool {
    bytes == other.bytes && version == other.version && strangers == other.strangers
  }
}

/// The state of an object before a step of the undo history, or after it.
enum ObjectImage {
  /// The object was not in the store, or was deleted.
  case absent
  /// The object was absent, and its content after the step is known.
  case absentBefore(ContentMark)
  /// The object existed, but its record could not be read.
  case unreadable
  /// The object existed, with this content.
  case content(ContentImage)
  /// The object existed. This is the difference of its content from the content after the step.
  case difference(ContentDifference)

  /// Whether the object existed.
  var isPresent: Bool {
    switch self {
    case .absent, .absentBefore: false
    case .unreadable, .content, .difference: true
    }
  }

  /// Returns a smaller image: the difference from the state that follows.
  func shrunk(against next: ObjectImage) -> ObjectImage {
    guard case .content(let content) = self, case .content(let base) = next,
      let difference = ContentDifference(from: base, to: content)
    else { return self }
    return .difference(difference)
  }

  /// Returns the image of an absent object with a mark of the content that follows.
  func marked(with next: ObjectImage) -> ObjectImage {
    guard case .absent = self, case .content(let content) = next, content.strangers.isEmpty else {
      return self
    }
    return .absentBefore(ContentMark(content))
  }

  /// Returns the complete image, given the current state of the object.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `conflict` if the object is not as the step left
  ///   it.
  func whole(of current: ObjectImage, at location: StoreError.Location) throws(StoreError)
    -> ObjectImage
  {
    switch self {
    case .absent, .unreadable, .content: return self
    case .absentBefore(let mark):
      if case .content(let content) = current, !mark.matches(content) { break }
      return .absent
    case .difference(let difference):
      guard case .content(let base) = current, let content = difference.applied(to: base) else {
        break
      }
      return .content(content)
    }
    throw StoreError(
      .conflict,
      """
      Something else has changed the object since the step, so the step can't be taken back. \
      removeAllActions() clears the undo history.
      """,
      at: location)
  }
}

/// The size and the CRC-32C of a content.
struct ContentMark {
  let count: Int
  let checksum: UInt32

  init(count: Int, checksum: UInt32) { (self.count, self.checksum) = (count, checksum) }

  init(_ content: ContentImage) {
    self.init(count: content.bytes.count, checksum: Self.checksum(content.bytes))
  }

  /// Returns whether a content is the marked one.
  func matches(_ content: ContentImage) -> Bool {
    content.strangers.isEmpty && content.bytes.count == count
      && Self.checksum(content.bytes) == checksum
  }

  static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var checksum = CRC32C()
    checksum.update(bytes.span)
    return checksum.value
  }
}

/// The bytes of a content that differ from another content.
///
/// With differences, the undo history of edits to a long list takes memory for the edits only, and
/// not for the lists.
struct ContentDifference {
  /// The number of bytes that both have in common at the beginning, and at the end.
  let prefix: Int
  let suffix: Int
  /// The bytes in between.
  let middle: [UInt8]
  let version: UInt8
  /// The size and the CRC-32C of the other content.
  let baseCount: Int
  let baseChecksum: UInt32

  /// Computes a difference; returns nil if a content refers to objects without a row.
  ///
  /// Complexity: Linear in the sizes.
  init?(from base: ContentImage, to content: ContentImage) {
    guard base.strangers.isEmpty, content.strangers.isEmpty else { return nil }
    let ends = CommonEnds(base.bytes, content.bytes, by: ==)
    (prefix, suffix) = (ends.prefix, ends.suffix)
    middle = Array(ends.middle(of: content.bytes))
    version = content.version
    baseCount = base.bytes.count
    baseChecksum = ContentMark.checksum(base.bytes)
  }

  init(
    prefix: Int, suffix: Int, middle: [UInt8], version: UInt8, baseCount: Int,
    baseChecksum: UInt32
  ) {
    (self.prefix, self.suffix, self.middle) = (prefix, suffix, middle)
    (self.version, self.baseCount, self.baseChecksum) = (version, baseCount, baseChecksum)
  }

  /// Returns the content, or nil if the base is not the one that the difference was made from.
  func applied(to base: ContentImage) -> ContentImage? {
    guard ContentMark(count: baseCount, checksum: baseChecksum).matches(base),
      prefix + suffix <= baseCount
    else { return nil }
    let bytes = base.bytes[..<prefix] + middle + base.bytes[(baseCount - suffix)...]
    return ContentImage(bytes: Array(bytes), version: version)
  }
}
