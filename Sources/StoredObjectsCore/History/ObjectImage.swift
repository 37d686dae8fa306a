import StoreEngine

/// A row of a store: what steps of the history speak of.
struct ObjectKey: Hashable {
  let classID: UInt8
  let rowID: UInt32
}

/// What an object was like at some time, as its class writes it.
struct ContentImage {
  /// The content, without the version and the checksum of a record.
  var bytes: [UInt8]
  /// The version of the class that wrote it.
  var version: UInt8
  /// Objects that the content refers to and that had no row of the store.
  var strangers: [StoredObject] = []

  /// Whether both say the same, whatever else differs.
  func matches(_ other: ContentImage) -> Bool {
    bytes == other.bytes && version == other.version && strangers == other.strangers
  }
}

/// What a step of the history knows of an object before the step, or after it.
enum ObjectImage {
  /// It was not in the store, or deleted.
  case absent
  /// The same, and its content after the step is known.
  case absentBefore(ContentMark)
  /// It was there, but its record could not be read.
  case unreadable
  /// It was there, and this was its content.
  case content(ContentImage)
  /// It was there, and its content differs by this from what it is when the image is needed.
  case difference(ContentDifference)

  /// Whether it was there.
  var isPresent: Bool {
    switch self {
    case .absent, .absentBefore: false
    case .unreadable, .content, .difference: true
    }
  }

  /// The image with less memory, for the time when the object is like this.
  func shrunk(against next: ObjectImage) -> ObjectImage {
    guard case .content(let content) = self, case .content(let base) = next,
      let difference = ContentDifference(from: base, to: content)
    else { return self }
    return .difference(difference)
  }

  /// The image of an absent object together with the content that it has next.
  func marked(with next: ObjectImage) -> ObjectImage {
    guard case .absent = self, case .content(let content) = next, content.strangers.isEmpty else {
      return self
    }
    return .absentBefore(ContentMark(content))
  }

  /// The image for itself, made of what the object is like now.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `conflict` when the object is not as the step left
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
      The object is not as the step has left it, so the step can't be taken back: something \
      else has changed it. removeAllActions() begins a new history.
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

  /// Whether a content is the one that was marked.
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

/// One content as the bytes that differ from another, so that a history of edits to a long list
/// takes room for the edits and not for the lists.
struct ContentDifference {
  /// How many bytes both begin, and end, with.
  let prefix: Int
  let suffix: Int
  /// What stands between.
  let middle: [UInt8]
  let version: UInt8
  /// The size and the CRC-32C of the other content.
  let baseCount: Int
  let baseChecksum: UInt32

  /// What turns one content into another; nil if that can't be said by bytes.
  ///
  /// Complexity: linear in their sizes.
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

  /// The content; nil if the base is another one.
  func applied(to base: ContentImage) -> ContentImage? {
    guard ContentMark(count: baseCount, checksum: baseChecksum).matches(base),
      prefix + suffix <= baseCount
    else { return nil }
    let bytes = base.bytes[..<prefix] + middle + base.bytes[(baseCount - suffix)...]
    return ContentImage(bytes: Array(bytes), version: version)
  }
}
