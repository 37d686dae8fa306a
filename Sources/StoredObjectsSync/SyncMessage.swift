import StoreEngine

/// A request of a device to its server.
enum SyncRequest: Sendable, Equatable {
  /// Makes classes known to the server, and asks for row IDs.
  case join([SyncClass])
  /// Asks for the commits after a position, or with nil for a copy of the store.
  case pull(after: HistoryPosition?, byteLimit: Int)
  /// Offers commits that are based on a position.
  case push(basedOn: HistoryPosition, commits: [[UInt8]])
}

/// A class of a device, as its store would save it.
struct SyncClass: Sendable, Equatable {
  var name: String
  /// The metadata row that a new class gets, with a class ID that the server replaces.
  var metadata: [UInt8]
  /// The named buffer with the layouts; empty if there are none.
  var layouts: [UInt8]
  /// The number of row IDs that the device asks for.
  var rowCount: Int
}

/// Row IDs that belong to one device.
struct RowLease: Sendable, Hashable {
  var className: String
  var rows: ClosedRange<UInt32>
}

/// The answer of a server.
enum SyncAnswer: Sendable, Equatable {
  /// The row IDs that the device gets.
  case joined([RowLease])
  /// A stream of history entries follows.
  case history
  /// The commits are made; the last one is at this position.
  case accepted(HistoryPosition)
  /// Others have committed since: pull, and push again.
  case behind
  /// The request was refused.
  case failed(code: String, message: String)
}

// MARK: - Bytes

/// The format of requests and answers, see <doc:SyncProtocol>.
///
///     0   "SOsr" or "SOsa"
///     4   UInt16  version, 1
///     6   UInt8   kind
///     7           content
///     n   UInt32  CRC-32C of the bytes before
enum SyncFormat {
  static let requestMagic = Array("SOsr".utf8)
  static let answerMagic = Array("SOsa".utf8)
  static let version: UInt16 = 1
  static let headByteCount = 7
  /// The maximum number of bytes of an answer's content, other than a stream.
  static let maximumAnswerByteCount = 1 << 20

  static func message(
    _ magic: [UInt8], _ kind: UInt8, _ content: (inout DataBuffer) -> Void
  ) -> [UInt8] {
    var buffer = DataBuffer()
    buffer.append(magic)
    buffer.write(version)
    buffer.write(kind)
    content(&buffer)
    var checksum = CRC32C()
    let bytes = buffer.bytes
    checksum.update(bytes.span)
    buffer.write(checksum.value)
    return buffer.bytes
  }

  /// Checks the frame of a message, and returns its kind and a buffer with its content.
  static func content(
    of bytes: [UInt8], _ magic: [UInt8]
  ) throws(DataBufferError) -> (UInt8, DataBuffer) {
    guard bytes.starts(with: magic), bytes.count >= headByteCount + 4 else {
      throw DataBufferError(.invalidValue, at: 0, "it is no message of this protocol")
    }
    var head = DataBuffer(Array(bytes[magic.count..<headByteCount]))
    guard try head.readUInt16() == version else {
      throw DataBufferError(.invalidValue, at: magic.count, "it has another version")
    }
    var checksum = CRC32C()
    checksum.update(bytes.span.extracting(0..<bytes.count - 4))
    var end = DataBuffer(Array(bytes.suffix(4)))
    guard try end.readUInt32() == checksum.value else {
      throw DataBufferError(.invalidValue, at: bytes.count - 4, "the checksum is wrong")
    }
    let kind = try head.readUInt8()
    return (kind, DataBuffer(Array(bytes[headByteCount..<bytes.count - 4])))
  }

  static func checkEnd(of buffer: DataBuffer) throws(DataBufferError) {
    guard buffer.remainingCount == 0 else {
      throw DataBufferError(.unreadBytes, at: buffer.offset, "a message ends here")
    }
  }
}

extension SyncRequest {
  /// The bytes of the request.
  var bytes: [UInt8] {
    switch self {
    case .join(let classes):
      SyncFormat.message(SyncFormat.requestMagic, 1) { buffer in
        buffer.writeCount(classes.count)
        for one in classes {
          buffer.write(one.name)
          buffer.write(one.metadata)
          buffer.write(one.layouts)
          buffer.write(UInt32(clamping: one.rowCount))
        }
      }
    case .pull(let position, let limit):
      SyncFormat.message(SyncFormat.requestMagic, 2) { buffer in
        buffer.write(UInt64(limit))
        buffer.write(position != nil)
        position?.encode(to: &buffer)
      }
    case .push(let position, let commits):
      SyncFormat.message(SyncFormat.requestMagic, 3) { buffer in
        position.encode(to: &buffer)
        buffer.writeCount(commits.count)
        for commit in commits { buffer.write(commit) }
      }
    }
  }

  /// Reads a request.
  init(_ bytes: [UInt8]) throws(DataBufferError) {
    var (kind, buffer) = try SyncFormat.content(of: bytes, SyncFormat.requestMagic)
    switch kind {
    case 1:
      var classes: [SyncClass] = []
      for _ in 0..<(try buffer.readCount(minimumElementSize: 16)) {
        classes.append(
          SyncClass(
            name: try buffer.readString(), metadata: try buffer.readBytes(),
            layouts: try buffer.readBytes(), rowCount: Int(try buffer.readUInt32())))
      }
      self = .join(classes)
    case 2:
      let limit = Int(clamping: try buffer.readUInt64())
      let hasPosition = try buffer.readBool()
      self = .pull(
        after: hasPosition ? try HistoryPosition(from: &buffer) : nil, byteLimit: limit)
    case 3:
      let position = try HistoryPosition(from: &buffer)
      var commits: [[UInt8]] = []
      for _ in 0..<(try buffer.readCount(minimumElementSize: 4)) {
        commits.append(try buffer.readBytes())
      }
      self = .push(basedOn: position, commits: commits)
    default: throw DataBufferError(.invalidValue, at: 6, "no kind of request")
    }
    try SyncFormat.checkEnd(of: buffer)
  }
}

extension SyncAnswer {
  /// The bytes of the answer; a stream follows those of ``history``.
  var bytes: [UInt8] {
    switch self {
    case .joined(let leases):
      SyncFormat.message(SyncFormat.answerMagic, 1) { buffer in
        buffer.writeCount(leases.count)
        for lease in leases {
          buffer.write(lease.className)
          buffer.write(lease.rows.lowerBound)
          buffer.write(lease.rows.upperBound)
        }
      }
    case .history: SyncFormat.message(SyncFormat.answerMagic, 2) { _ in }
    case .accepted(let position):
      SyncFormat.message(SyncFormat.answerMagic, 3) { position.encode(to: &$0) }
    case .behind: SyncFormat.message(SyncFormat.answerMagic, 4) { _ in }
    case .failed(let code, let message):
      SyncFormat.message(SyncFormat.answerMagic, 5) { buffer in
        buffer.write(code)
        buffer.write(message)
      }
    }
  }

  /// Reads an answer.
  init(_ bytes: [UInt8]) throws(DataBufferError) {
    var (kind, buffer) = try SyncFormat.content(of: bytes, SyncFormat.answerMagic)
    switch kind {
    case 1:
      var leases: [RowLease] = []
      for _ in 0..<(try buffer.readCount(minimumElementSize: 12)) {
        let name = try buffer.readString()
        let start = buffer.offset
        let (first, last) = (try buffer.readUInt32(), try buffer.readUInt32())
        guard first > ClassMetadata.rowID, first <= last else {
          throw DataBufferError(.invalidValue, at: start, "no range of row IDs")
        }
        leases.append(RowLease(className: name, rows: first...last))
      }
      self = .joined(leases)
    case 2: self = .history
    case 3: self = .accepted(try HistoryPosition(from: &buffer))
    case 4: self = .behind
    case 5: self = .failed(code: try buffer.readString(), message: try buffer.readString())
    default: throw DataBufferError(.invalidValue, at: 6, "no kind of answer")
    }
    try SyncFormat.checkEnd(of: buffer)
  }
}
