/// The format of a stream of history entries, in a file, a pipe, or the body of a message.
///
///     header:  "SOStream", format (4), position after which the stream begins: history ID (16),
///              number (8), token (16); checksum (4)
///     frame:   kind (1), count (4), payload of so many bytes, checksum (4)
///
///     1 entry          the last commit before the history of the source (8), an entry as
///                      HistoryFormat encodes it
///     2 value          ID (16), size (8), checksum (4), offset (8), a part of the value
///     3 missing value  ID (16), size (8), checksum (4)
///     4 heartbeat      the last commit of the source (8), microseconds since 1970 (8)
///     5 part of a copy records, buffers and keys, as an entry of the commit in the header
///     6 end of a copy  that commit
///     7 end            nothing; another header may follow
///
/// Numbers are little-endian. A checksum is the CRC-32C of all bytes of the stream before it,
/// except for earlier checksums. So it detects frames that are left out, repeated or moved.
/// HistoryStreamFormat.md has an example.
enum HistoryStreamFormat {
  static let magic = Array("SOStream".utf8)
  static let version: UInt32 = 1
  static let headerByteCount = 8 + 4 + HistoryPosition.byteCount + checksumByteCount
  static let frameHeadByteCount = 5
  static let checksumByteCount = 4
  /// The number of bytes of a value's reference and an offset.
  static let valueHeadByteCount = 36

  enum Kind: UInt8 {
    case entry = 1
    case value = 2
    case missingValue = 3
    case heartbeat = 4
    case copyPart = 5
    case copyEnd = 6
    case end = 7

    /// The maximum size of the payload of a frame.
    var maximumByteCount: Int {
      switch self {
      case .entry, .copyPart: 8 + ChangeSet.maximumKeyByteCount
      case .value: HistoryStreamFormat.valueHeadByteCount + ExternalChunks.size
      case .missingValue: HistoryStreamFormat.valueHeadByteCount - 8
      case .heartbeat: 16
      case .copyEnd: 1024
      case .end: 0
      }
    }
  }
}
