/// The two sizes of a constant database: how wide its numbers are.
///
/// Nothing in a file says which it has, so that it is chosen by who makes and who opens it.
///
///     +-----------------+---------+---------+---------+-----+-----------+
///     | 256 x (at, len) | records | table 0 | table 1 | ... | table 255 |
///     +-----------------+---------+---------+---------+-----+-----------+
///
///     record: key length, value length, key, value
///     table:  (hash, position of a record) for each slot; position 0 is an empty slot
///
/// All numbers are unsigned, with their least significant byte first. See <doc:CDBFileFormat>.
public enum CDBFormat: Hashable, Sendable, CaseIterable {
  /// Numbers of 4 bytes: the classic format. A file has less than 4 GiB.
  case classic
  /// Numbers of 8 bytes, the hash included: for files of any size.
  case wide

  /// The bytes of a number.
  var wordSize: Int { self == .wide ? 8 : 4 }
  /// The bytes of two numbers: an entry of the header, a slot, what precedes a key.
  var pairSize: Int { self == .wide ? 16 : 8 }
  /// The bytes before the first record.
  var headerSize: Int { Self.tableCount * pairSize }
  /// The most bytes that a file can have.
  var sizeLimit: UInt64 { self == .wide ? UInt64(Int64.max) : UInt64(UInt32.max) }

  /// The first bytes of a store's mark, which may follow the last table.
  static let storeMark = Array("SOMark".utf8) + [0, 1]
  /// The size of such a mark.
  static let storeMarkSize = 20

  /// How many hash tables there are.
  static let tableCount = 256
}
