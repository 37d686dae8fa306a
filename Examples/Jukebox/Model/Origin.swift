import StoredObjects

/// The origin of a playlist, by which an import finds it again.
enum Origin: Hashable {
  /// A playlist of a library file with a Playlist ID: the first, second… one with that ID.
  case library(id: Int64, occurrence: UInt32)
  /// A playlist of a library file without a Playlist ID: the first, second… one with that name.
  case unnumbered(name: String, occurrence: UInt32)
  /// An M3U playlist with a name.
  case playlistFile(name: String)
  /// A playlist that a command has created.
  case created
}

extension Origin {
  /// Whether the playlist's number is that of its library file.
  var ownsNumber: Bool {
    if case .library(_, 1) = self { true } else { false }
  }

  /// Whether the playlist is from a library file.
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
