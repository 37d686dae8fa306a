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
  /// It was there, but its record could not be read.
  case unreadable
  /// It was there, and this was its content.
  case content(ContentImage)
  /// It was there, and its content differs by this from what it is when the image is needed.
  case difference(ContentDifference)

  /// Whether it was there.
  var isPresent: Bool {
    if case .absent = self { false } else { true }
  }

  /// The image with less memory, for the time when the object is like this.
  func shrunk(against next: ObjectImage) -> ObjectImage {
    guard case .content(let content) = self, case .content(let base) = next,
      let difference = ContentDifference(from: base, to: content)
    else { return self }
    return .difference(difference)
  }

  /// The image for itself, made of what the object is like now.
  ///
  /// - Throws: ``StoreError`` with `conflict` when the object is not as the step left it.
  func whole(of current: ObjectImage, at place: StoreError.Place) throws(StoreError) -> ObjectImage
  {
    guard case .difference(let difference) = self else { return self }
    guard case .content(let base) = current, let content = difference.applied(to: base) else {
      throw StoreError(
        .conflict,
        """
        The object is not as the step has left it, so the step can't be taken back: something \
        else has changed it. removeAllActions() begins a new history.
        """,
        at: place)
    }
    return .content(content)
  }
}

/// One content as the bytes that differ from another, so that a history of edits to a long list takes
/// room for the edits and not for the lists.
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
    baseChecksum = Self.checksum(base)
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
    guard base.strangers.isEmpty, base.bytes.count == baseCount, prefix + suffix <= baseCount,
      Self.checksum(base) == baseChecksum
    else { return nil }
    let bytes = base.bytes[..<prefix] + middle + base.bytes[(baseCount - suffix)...]
    return ContentImage(bytes: Array(bytes), version: version)
  }

  private static func checksum(_ content: ContentImage) -> UInt32 {
    var checksum = CRC32C()
    checksum.update(content.bytes.span)
    return checksum.value
  }
}
