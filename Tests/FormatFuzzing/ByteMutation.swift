import StoredObjectsTestSupport

/// A generator of damage: anywhere, and in the numbers that a reader depends on.
struct ByteMutation {
  private(set) var bytes: [UInt8]
  private let fields: [Range<Int>]

  private enum Kind: CaseIterable {
    case flip, set, field, swapFields, splice, cut, insert, remove, zero, grow
  }

  init(_ bytes: [UInt8], fields: [Range<Int>]) {
    self.bytes = bytes
    self.fields = fields
  }

  /// Makes a few random changes.
  mutating func mutate(_ random: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      // Damage of fields has the most effect.
      let isField = Bool.random(using: &random)
      mutate(isField ? .field : Kind.allCases.randomElement(using: &random) ?? .flip, &random)
    }
  }

  private mutating func mutate(_ kind: Kind, _ random: inout SeededGenerator) {
    guard !bytes.isEmpty else { return }
    let offset = Int.random(in: 0..<bytes.count, using: &random)
    let length = Int.random(in: 0...min(64, bytes.count - offset), using: &random)
    switch kind {
    case .flip: bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case .set: bytes[offset] = .random(in: 0 ... .max, using: &random)
    case .field: changeField(&random)
    case .swapFields: copyField(&random)
    case .splice:
      let source = Int.random(in: 0...bytes.count - length, using: &random)
      bytes.replaceSubrange(offset..<offset + length, with: Array(bytes[source..<source + length]))
    case .cut: bytes.removeSubrange(offset...)
    case .insert: bytes.insert(contentsOf: bytes[offset..<offset + length], at: offset)
    case .remove: bytes.removeSubrange(offset..<offset + length)
    case .zero:
      bytes.replaceSubrange(offset..<offset + length, with: [UInt8](repeating: 0, count: length))
    case .grow: bytes += [UInt8](repeating: bytes[offset], count: length * 64)
    }
  }

  private func field(_ random: inout SeededGenerator) -> Range<Int>? {
    fields.randomElement(using: &random).flatMap { $0.upperBound <= bytes.count ? $0 : nil }
  }

  /// Sets a field to a boundary value, in either byte order.
  private mutating func changeField(_ random: inout SeededGenerator) {
    guard let field = field(&random) else { return }
    let size = UInt64(bytes.count)
    let old = bytes[field].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    let edges: [UInt64] = [
      0, 1, 2, 5, 0x7F, 0x80, 0xFF, 0xFFFF, 1 << 31, 1 << 47, UInt64.max >> 1, 1 << 63,
      .max - 1, .max,
    ]
    let ofFile: [UInt64] = [size, size - 1, size + 1, size / 2]
    let ofField: [UInt64] = [old &+ 1, old &- 1, old << 1, old >> 1, ~old]
    let random64 = UInt64.random(in: 0 ... .max, using: &random)
    let others: [UInt64] = [UInt64.random(in: 0...size, using: &random), random64]
    let number = (edges + ofFile + ofField + others).randomElement(using: &random) ?? 0
    let isBig = Bool.random(using: &random)
    for (index, offset) in field.enumerated() {
      let shift = 8 * (isBig ? field.count - 1 - index : index)
      bytes[offset] = shift < 64 ? UInt8(truncatingIfNeeded: number >> UInt64(shift)) : 0
    }
  }

  /// Copies the bytes of one field to another, such as a link that then leads elsewhere.
  private mutating func copyField(_ random: inout SeededGenerator) {
    guard let field = field(&random), let other = self.field(&random) else { return }
    for (offset, source) in zip(field, other) { bytes[offset] = bytes[source] }
  }
}
