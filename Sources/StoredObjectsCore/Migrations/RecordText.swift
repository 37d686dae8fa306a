import FoundationEssentials
import StoreEngine

extension StoredRecord {
  /// Returns the values as readable texts.
  ///
  /// A value that only its own type can read is "?", and so are all values after it.
  ///
  /// - Parameter renamed: The new names of classes, by the names in the record.
  /// - Returns: The names and values, in order.
  func texts(_ renamed: [String: String]) -> [(name: String, text: String)] {
    var buffer = content
    var isReadable = true
    let names = reader.classNames.mapValues { renamed[$0] ?? $0 }
    return properties.map { property in
      let type = renamed.reduce(property.type) { $0.renaming($1.key, to: $1.value) }
      guard isReadable, let text = try? buffer.readText(type, names) else {
        isReadable = false
        return (property.name, "?")
      }
      return (property.name, text)
    }
  }
}

extension DataBuffer {
  /// The maximum numbers of elements, and of characters of a string, to show.
  private static let shownElements = 5
  private static let shownCharacters = 60

  /// Reads a value as readable text.
  ///
  /// - Throws: ``/StoreEngine/DataBufferError``, also for a type that only its own code can read.
  mutating func readText(
    _ type: StoredType, _ names: [UInt8: String]
  ) throws(DataBufferError) -> String {
    switch type {
    case .bool: return "\(try readBool())"
    case .integer, .float, .double: return try readNumber(type)
    case .string: return Self.shortened(try readString())
    case .date: return try readDate().ISO8601Format()
    case .uuid: return "\(try readUUID())"
    case .optional(let wrapped):
      return try readBool() ? try readText(wrapped, names) : "nil"
    case .array(let element), .set(let element):
      return try readElements { buffer throws(DataBufferError) in
        try buffer.readText(element, names)
      }
    case .dictionary(let key, let value):
      return try readElements { buffer throws(DataBufferError) in
        let key = try buffer.readText(key, names)
        return "\(key): \(try buffer.readText(value, names))"
      }
    case .enumeration(let enumeration): return try readCase(of: enumeration, names)
    case .reference(let name): return Self.text([try readID(of: name, names)])
    case .anyReference: return Self.text([try readAnyID(names)])
    case .references(let name), .referenceSet(let name):
      return "[\(Self.text(try readIDs(of: name, names)))]"
    case .anyReferences, .anyReferenceSet: return "[\(Self.text(try readAnyIDs(names)))]"
    case .external:
      return switch try ExternalContent(from: &self) {
      case .inline(let bytes): "\(bytes.count) bytes"
      case .outside(let reference): "\(reference.byteCount) bytes"
      }
    case .data, .codable, .custom:
      let first = position
      try skip(type)
      return "\(position - first - 4) bytes"
    }
  }

  private mutating func readNumber(_ type: StoredType) throws(DataBufferError) -> String {
    var output = DataBuffer()
    try convert(type, by: .text(of: type), to: &output) { name throws(DataBufferError) in
      throw DataBufferError(.unknownClass, at: 0, name)
    }
    output.rewind()
    return try output.readString()
  }

  private mutating func readCase(
    of enumeration: StoredEnumeration, _ names: [UInt8: String]
  ) throws(DataBufferError) -> String {
    let first = position
    let text = try readText(enumeration.rawType, names)
    let bytes = Array(bytes[first..<position])
    return enumeration.cases.first { $0.bytes == bytes }.map { ".\($0.name)" } ?? text
  }

  private mutating func readElements(
    _ read: (inout DataBuffer) throws(DataBufferError) -> String
  ) throws(DataBufferError) -> String {
    let count = try readCount(minimumElementSize: 1)
    var texts: [String] = []
    for index in 0..<count {
      let text = try read(&self)
      if index < Self.shownElements { texts.append(text) }
    }
    return "[\(Self.joined(texts, of: count))]"
  }

  private static func text(_ ids: [AnyID?]) -> String {
    joined(ids.prefix(shownElements).map { $0.map(\.description) ?? "nil" }, of: ids.count)
  }

  private static func joined(_ texts: [String], of count: Int) -> String {
    let rest = count > texts.count ? ", and \(count - texts.count) more" : ""
    return texts.joined(separator: ", ") + rest
  }

  private static func shortened(_ text: String) -> String {
    text.count <= shownCharacters
      ? "\"\(text)\"" : "\"\(text.prefix(shownCharacters))\" and more"
  }
}
