import StoreEngine

/// An offset in a value outside of records.
struct ValuePlace: Sendable, Hashable {
  /// The number of bytes of a place in a message.
  static let byteCount = 36

  var reference: ExternalReference
  var offset: Int
}

extension [ValuePlace] {
  /// The same places, those of values that have begun first.
  var begunFirst: [ValuePlace] { filter { $0.offset > 0 } + filter { $0.offset == 0 } }
}

/// A part of a value outside of records.
struct ValuePart: Sendable, Equatable {
  var place: ValuePlace
  var bytes: [UInt8]

  var reference: ExternalReference { place.reference }
  var offset: Int { place.offset }
  /// The offset behind the part.
  var end: Int { place.offset + bytes.count }

  init(_ reference: ExternalReference, offset: Int = 0, _ bytes: [UInt8] = []) {
    (place, self.bytes) = (ValuePlace(reference: reference, offset: offset), bytes)
  }
}

extension DataBuffer {
  mutating func write(_ place: ValuePlace) {
    write(place.reference)
    write(UInt64(place.offset))
  }

  mutating func write(_ parts: [ValuePart]) {
    writeCount(parts.count)
    for part in parts {
      write(part.place)
      write(part.bytes)
    }
  }

  mutating func readPlace() throws(DataBufferError) -> ValuePlace {
    let reference = try readReference()
    let start = offset
    let place = try readUInt64()
    guard place <= UInt64(reference.byteCount) else {
      throw DataBufferError(.invalidValue, at: start, "an offset is outside of its value")
    }
    return ValuePlace(reference: reference, offset: Int(place))
  }

  mutating func readParts() throws(DataBufferError) -> [ValuePart] {
    var parts: [ValuePart] = []
    for _ in 0..<(try readCount(minimumElementSize: ValuePlace.byteCount + 4)) {
      let place = try readPlace()
      let start = offset
      let part = ValuePart(place.reference, offset: place.offset, try readBytes())
      guard part.bytes.count <= place.reference.byteCount - place.offset else {
        throw DataBufferError(.invalidValue, at: start, "a part is outside of its value")
      }
      parts.append(part)
    }
    return parts
  }
}
