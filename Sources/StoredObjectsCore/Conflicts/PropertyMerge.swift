import StoreEngine

/// Merges contents of one object, property by property.
struct PropertyMerge {
  /// The content with the changes of both sides; this side's value if both have changed a property.
  var content: [UInt8] = []
  /// The same with the other side's value in that case.
  var contentOfTheirs: [UInt8] = []
  /// The properties to which both sides have given different values.
  var undecided: [String] = []

  /// Merges contents of the same layout.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError`` if a content is not in the layout.
  init(_ coding: RecordCoding, base: [UInt8], mine: [UInt8], theirs: [UInt8]) throws {
    let (old, own, other) = (
      try coding.parts(of: base), try coding.parts(of: mine), try coding.parts(of: theirs)
    )
    for (index, property) in coding.namedTypes.enumerated() {
      let merged = try Self.merged(property.type, old[index], own[index], other[index])
      if merged == nil { undecided.append(property.name) }
      content += merged ?? own[index]
      contentOfTheirs += merged ?? other[index]
    }
  }

  /// Returns the merged value of a property; nil if both sides have changed it.
  private static func merged(
    _ type: StoredType, _ base: [UInt8], _ mine: [UInt8], _ theirs: [UInt8]
  ) throws -> [UInt8]? {
    if mine == theirs || base == mine { return theirs }
    if base == theirs { return mine }
    guard let old = try ListParts(type, base), let own = try ListParts(type, mine),
      let other = try ListParts(type, theirs)
    else { return nil }
    return old.merged(mine: own, theirs: other)
  }
}

/// The bytes of a list or a set, element by element.
private struct ListParts {
  let elements: [[UInt8]]
  let isSet: Bool
  /// Whether the class of each object follows the count.
  let hasClasses: Bool

  /// Reads the elements; nil for a value that is neither a list nor a set.
  init?(_ type: StoredType, _ bytes: [UInt8]) throws {
    var buffer = DataBuffer(bytes)
    var hasClasses = false
    let count: Int
    let element: StoredType
    switch type {
    case .array(let value), .set(let value):
      element = value
      count = try buffer.readCount(minimumElementSize: value.byteCount ?? 1)
    case .references, .referenceSet:
      (count, hasClasses) = try buffer.readReferenceCount()
      element = hasClasses ? .anyReference : .reference("")
    case .anyReferences, .anyReferenceSet:
      element = .anyReference
      count = try buffer.readCount(minimumElementSize: 5)
    default: return nil
    }
    isSet = type.isSet
    self.hasClasses = hasClasses
    var elements: [[UInt8]] = []
    for _ in 0..<count {
      elements.append(
        try buffer.bytesRead { buffer in
          // A reference in a list has no flag for nil.
          if case .reference = element { try buffer.skip(4) } else { try buffer.skip(element) }
        })
    }
    self.elements = elements
  }

  /// Returns the merged list; nil if the sides encode their elements differently.
  func merged(mine: ListParts, theirs: ListParts) -> [UInt8]? {
    let sides = [self, mine, theirs].filter { !$0.elements.isEmpty }
    let hasClasses = sides.contains(where: \.hasClasses)
    guard sides.allSatisfy({ $0.hasClasses == hasClasses }) else { return nil }
    let merged =
      isSet
      ? mergedSet(base: elements, mine: mine.elements, theirs: theirs.elements)
      : ThreeWayList.merge(base: elements, mine: mine.elements, theirs: theirs.elements)
    var buffer = DataBuffer()
    buffer.write(UInt32(merged.count))
    if hasClasses, !merged.isEmpty { buffer.write(ClassMetadata.rowID) }
    return buffer.bytes + merged.joined()
  }
}

extension StoredType {
  fileprivate var isSet: Bool {
    switch self {
    case .set, .referenceSet, .anyReferenceSet: true
    default: false
    }
  }
}
