import StoreEngine
package import StoredObjectsCore

/// A record and the places of its values.
package struct BrowsedRecord: Sendable {
  /// The name of the class.
  package let className: String
  /// The row.
  package let rowID: UInt32
  /// The whole record.
  package let bytes: [UInt8]
  /// The number of the layout; nil if the record has none.
  package let layoutNumber: UInt8?
  /// The properties that can be read, in their order.
  package let properties: [SavedLayout.SavedProperty]
  /// The range of each property's value in the bytes.
  let ranges: [Range<Int>]
  /// The range of the content.
  let content: Range<Int>
  /// The index from which values were found by an assumption about a type; nil if there is none.
  let firstAssumed: Int?

  /// The ID, such as "Song/42".
  package var id: String { "\(className)/\(rowID)" }

  /// A number that changes with the record, in hex.
  package var version: String { Self.version(of: bytes) }

  /// Returns the version of a record.
  package static func version(of bytes: [UInt8]) -> String {
    // FNV-1a with 64 bits, which is enough to notice an edit of somebody else.
    let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
    return String(hash, radix: 16)
  }

  /// Returns the bytes and the type of a property; nil if the record does not have it.
  func part(_ name: String) -> (bytes: [UInt8], type: StoredType)? {
    guard let index = properties.firstIndex(where: { $0.name == name }) else { return nil }
    return (Array(bytes[ranges[index]]), properties[index].type)
  }
}

extension BrowsedClass {
  /// Finds the values of a record.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`.
  func record(_ rowID: UInt32, _ bytes: [UInt8]) throws(StoreError) -> BrowsedRecord {
    var buffer = DataBuffer(bytes)
    do {
      if hasChecksums {
        try buffer.verifyChecksum(classID: metadata?.classID ?? 0, rowID: rowID)
      }
      let number = hasNumbers ? try buffer.readUInt8() : layouts.last?.number
      let start = buffer.offset
      let end = start + buffer.remainingCount
      let properties = number.flatMap(layout)?.browsedProperties ?? []
      var finder = ValueFinder(properties.map(\.type), buffer, usualSize: usualSize)
      let (ranges, firstAssumed) = try finder.ranges()
      return BrowsedRecord(
        className: name, rowID: rowID, bytes: bytes, layoutNumber: number,
        properties: Array(properties.prefix(ranges.count)), ranges: ranges, content: start..<end,
        firstAssumed: firstAssumed)
    } catch {
      throw .wrapping(error, .damaged, at: .init(className: name, rowID: rowID))
    }
  }

}

/// References as texts such as "Song/42"; a value outside of the record as its identifier.
struct PlainReferences: ReferenceReading {
  let names: [UInt8: String]

  func value(of className: String, row: UInt32) -> StoredValue { .string("\(className)/\(row)") }
  func className(of classID: UInt8) -> String? { names[classID] }
  func text(of external: ExternalReference) -> String { "\(external.id)" }
}

/// The text of a reference, such as "Song/42".
package struct ObjectAddress: Hashable, Sendable, CustomStringConvertible {
  /// The class.
  package let className: String
  /// The row, from 2.
  package let rowID: UInt32

  /// Creates the address of a row.
  package init(_ className: String, _ rowID: UInt32) {
    (self.className, self.rowID) = (className, rowID)
  }

  /// Parses a text; nil if it is not an address.
  package init?(_ text: String) {
    guard let slash = text.lastIndex(of: "/"), slash > text.startIndex else { return nil }
    let digits = text[text.index(after: slash)...]
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let row = UInt32(digits), row > 1
    else { return nil }
    self.init(String(text[..<slash]), row)
  }

  /// The text.
  package var description: String { "\(className)/\(rowID)" }
}

extension BrowsedState {
  /// Returns the record of an object; nil if there is none.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`.
  func record(_ rowID: UInt32, _ known: BrowsedClass) throws(StoreError) -> BrowsedRecord? {
    guard rowID > ClassMetadata.rowID else { return nil }
    var bytes: [UInt8] = []
    guard try backend.copyRecord(rowID, in: known.table, to: &bytes) else { return nil }
    return try known.record(rowID, bytes)
  }

  /// Returns the record of an object; nil if there is none, or if it can't be read.
  func readableRecord(_ address: ObjectAddress) -> BrowsedRecord? {
    guard let known = try? browsedClass(address.className) else { return nil }
    return try? record(address.rowID, known)
  }

  /// Reads a value of a record as one that JSON can represent.
  func value(_ bytes: [UInt8], _ type: StoredType) throws -> StoredValue {
    var buffer = DataBuffer(bytes)
    return try buffer.readPlain(type, PlainReferences(names: classNames))
  }
}
