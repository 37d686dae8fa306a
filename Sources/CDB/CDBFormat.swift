/// The format of a constant database: the width of its numbers.
///
/// A file does not state its format, so you choose it when you create or open the file.
///
///     +-----------------+---------+---------+---------+-----+-----------+
///     | 256 x (at, len) | records | table 0 | table 1 | ... | table 255 |
///     +-----------------+---------+---------+---------+-----+-----------+
///
///     record: key length, value length, key, value
///     table:  (hash, position of a record) for each slot; position 0 is an empty slot
///
/// All numbers are unsigned and little-endian. See <doc:CDBFileFormat>.
public enum CDBFormat: Hashable, Sendable, CaseIterable {
  /// Numbers of 4 bytes, the classic format, for files of less than 4 GiB.
  case classic
  /// Numbers of 8 bytes, including the hash, for files of any size.
  case wide

  /// The number of bytes of a number.
  var wordSize: Int { self == .wide ? 8 : 4 }
  /// The number of bytes of two numbers: an entry of the header, a slot, the sizes before a key.
  var pairSize: Int { self == .wide ? 16 : 8 }
  /// The number of bytes before the first record.
  var headerSize: Int { Self.tableCount * pairSize }
  /// The maximum size of a file.
  var sizeLimit: UInt64 { self == .wide ? UInt64(Int64.max) : UInt64(UInt32.max) }

  /// The first bytes of a store's mark, which may follow the last table.
  static let storeMark = Array("SOMark".utf8) + [0, 1]
  /// The size of such a mark.
  static let storeMarkSize = 20

  /// The number of hash tables.
  static let tableCount = 256
}
