import StoreEngine

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
    case .send(let parts):
      SyncFormat.message(SyncFormat.requestMagic, 4) { $0.write(parts) }
    case .fetch(let places, let limit):
      SyncFormat.message(SyncFormat.requestMagic, 5) { buffer in
        buffer.write(UInt64(limit))
        buffer.writeCount(places.count)
        for place in places { buffer.write(place) }
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
    case 4: self = .send(try buffer.readParts())
    case 5:
      let limit = Int(clamping: try buffer.readUInt64())
      var places: [ValuePlace] = []
      for _ in 0..<(try buffer.readCount(minimumElementSize: ValuePlace.byteCount)) {
        places.append(try buffer.readPlace())
      }
      self = .fetch(places, byteLimit: limit)
    default: throw DataBufferError(.invalidValue, at: 6, "no kind of request")
    }
    try SyncFormat.checkEnd(of: buffer)
  }
}
