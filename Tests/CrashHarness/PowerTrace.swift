import Foundation

/// The output of the preloaded recorder, see PowerShim/shim.c.
struct PowerTrace {
  /// A call for which the content of the disk matters, and the directory before it.
  struct Event {
    enum Kind: UInt8 {
      case sync = 0x73
      case syncDirectory = 0x64
      case rename = 0x72
      case exchange = 0x78
      case unlink = 0x75
      case create = 0x63
      case durableWrite = 0x77
    }

    let kind: Kind
    let inode: UInt64
    let text: [UInt8]
    let files: [File]

    /// The number of a save, if the event marks its return.
    var acknowledged: Int? {
      let name = String(decoding: text, as: UTF8.self)
      guard kind == .unlink, name.hasPrefix(PowerTrace.mark) else { return nil }
      return Int(name.dropFirst(PowerTrace.mark.count))
    }

    /// The offset and bytes of a write that is durable when it returns.
    var written: (offset: Int, bytes: ArraySlice<UInt8>)? {
      guard kind == .durableWrite, text.count >= 8 else { return nil }
      let offset = text[..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
      return (offset, text[8...])
    }

    /// The old and the new name of a rename, or the two names of an exchange.
    var names: (old: String, new: String)? {
      guard kind == .rename || kind == .exchange else { return nil }
      let parts = text.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      return parts.count == 2 ? (parts[0], parts[1]) : nil
    }
  }

  struct File {
    let inode: UInt64
    let name: String
    let content: [UInt8]
  }

  /// The name prefix of a missing file whose removal marks the return of a save.
  static let mark = ".acknowledged."

  private(set) var events: [Event] = []

  /// Decodes a trace; an incomplete last event is left out.
  init(_ data: [UInt8]) {
    var reader = Reader(bytes: data)
    while let event = Self.event(&reader) { events.append(event) }
  }

  private static func event(_ reader: inout Reader) -> Event? {
    guard let kind = reader.take(1)?.first.flatMap(Event.Kind.init), let inode = reader.number(8),
      let text = reader.number(4).flatMap({ reader.take(Int($0)) }), let count = reader.number(4)
    else { return nil }
    var files: [File] = []
    for _ in 0..<count {
      guard let inode = reader.number(8),
        let name = reader.number(4).flatMap({ reader.take(Int($0)) }),
        let content = reader.number(8).flatMap({ reader.take(Int($0)) })
      else { return nil }
      files.append(
        File(inode: inode, name: String(decoding: name, as: UTF8.self), content: content))
    }
    return Event(kind: kind, inode: inode, text: text, files: files)
  }

  private struct Reader {
    let bytes: [UInt8]
    var offset = 0

    mutating func take(_ count: Int) -> [UInt8]? {
      guard count <= bytes.count - offset else { return nil }
      defer { offset += count }
      return Array(bytes[offset..<offset + count])
    }

    mutating func number(_ size: Int) -> UInt64? {
      take(size)?.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }
}
