import StoredObjects

/// Where a playlist came from, and so how an import recognises it.
enum Origin: Hashable {
  /// A library file has it under a Playlist ID: the first, second... playlist with that ID.
  case library(id: Int64, occurrence: UInt32)
  /// A library file has it without a Playlist ID: the first, second... of its name.
  case unnumbered(name: String, occurrence: UInt32)
  /// An M3U playlist of that name.
  case playlistFile(name: String)
  /// Made here by a person.
  case created
}

extension Origin {
  /// Whether the playlist's number is the one that its library file has.
  var ownsNumber: Bool {
    if case .library(_, 1) = self { true } else { false }
  }

  /// Whether a library file brought it.
  var isLibrary: Bool {
    switch self {
    case .library, .unnumbered: true
    case .playlistFile, .created: false
    }
  }
}

extension Origin: DataBufferValue {
  private enum Kind: UInt8, DataBufferValue {
    case library, unnumbered, playlistFile, created
  }

  init(from buffer: inout DataBuffer) throws(DataBufferError) {
    switch try buffer.read(Kind.self) {
    case .library:
      self = .library(id: try buffer.readInt64(), occurrence: try buffer.readUInt32())
    case .unnumbered:
      self = .unnumbered(name: try buffer.readString(), occurrence: try buffer.readUInt32())
    case .playlistFile: self = .playlistFile(name: try buffer.readString())
    case .created: self = .created
    }
  }

  func write(to buffer: inout DataBuffer) {
    switch self {
    case .library(let id, let occurrence):
      buffer.write(Kind.library)
      buffer.write(id)
      buffer.write(occurrence)
    case .unnumbered(let name, let occurrence):
      buffer.write(Kind.unnumbered)
      buffer.write(name)
      buffer.write(occurrence)
    case .playlistFile(let name):
      buffer.write(Kind.playlistFile)
      buffer.write(name)
    case .created: buffer.write(Kind.created)
    }
  }
}
