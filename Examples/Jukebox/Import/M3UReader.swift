import Foundation

/// Reads an M3U playlist: a path or URL on each line, and information about it on the line before.
///
///     #EXTM3U
///     #PLAYLIST:Rainy Sunday
///     #EXTINF:187,Erik Satie - Gymnopédie No. 1
///     Satie/Gymnopedie 1.mp3
struct M3UReader {
  private let folder: URL
  private var file: PlaylistFile
  /// The information in the last #EXTINF, for the next song.
  private var pending: (title: String?, artist: String?, milliseconds: Int64?)

  /// Reads a file.
  ///
  /// Relative paths start at the folder of the file. A playlist without #PLAYLIST has the name of
  /// the file.
  static func read(_ data: Data, at url: URL) throws -> PlaylistFile {
    let isUTF8 = url.pathExtension.lowercased() == "m3u8"
    let text = try TextDecoder.decode(data, mustBeUTF8: isUTF8)
    guard text.contains(where: { !$0.isWhitespace }) else { throw Failure("is empty") }
    var reader = M3UReader(at: url)
    for line in text.utf8.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
      reader.read(String(Substring(line)))
    }
    return reader.file
  }

  private init(at url: URL) {
    folder = url.deletingLastPathComponent()
    file = PlaylistFile(name: url.deletingPathExtension().lastPathComponent)
  }

  private mutating func read(_ line: String) {
    let text = line.trimmingCharacters(in: .whitespaces)
    if let info = text.value(after: "#EXTINF:") {
      readInfo(info)
    } else if let name = text.value(after: "#PLAYLIST:") {
      if !name.isEmpty { file.name = name }
    } else if !text.isEmpty, !text.hasPrefix("#") {
      readLocation(text)
    }
  }

  private mutating func readLocation(_ text: String) {
    let location = Location.url(text, relativeTo: folder)
    let title = pending.title ?? Location.title(text)
    file.entries.append(
      .init(
        location: location, title: title, artist: pending.artist,
        milliseconds: pending.milliseconds))
    pending = (nil, nil, nil)
  }

  /// Reads an #EXTINF: seconds, optional attributes, a comma, and a text, often "Artist - Title".
  private mutating func readInfo(_ info: String) {
    let comma = info.firstIndexOutsideQuotes(of: ",") ?? info.endIndex
    let seconds = info[..<comma].split(separator: " ").first.flatMap { Double($0) }
    pending = (nil, nil, seconds.flatMap(Self.milliseconds))
    let shown = info[comma...].dropFirst().trimmingCharacters(in: .whitespaces)
    guard let dash = shown.range(of: " - ") else {
      pending.title = shown.isEmpty ? nil : shown
      return
    }
    pending.artist = shown[..<dash.lowerBound].trimmingCharacters(in: .whitespaces)
    pending.title = shown[dash.upperBound...].trimmingCharacters(in: .whitespaces)
  }

  /// Converts a length; a negative one means that it is unknown.
  private static func milliseconds(_ seconds: Double) -> Int64? {
    seconds < 0 ? nil : Int64(exactly: (seconds * 1000).rounded())
  }
}

extension String {
  /// Returns the text after a directive, whose case does not matter; nil if the line has another
  /// one.
  fileprivate func value(after directive: String) -> String? {
    guard range(of: directive, options: [.caseInsensitive, .anchored]) != nil else { return nil }
    return dropFirst(directive.count).trimmingCharacters(in: .whitespaces)
  }

  fileprivate func firstIndexOutsideQuotes(of character: Character) -> Index? {
    var isQuoted = false
    return firstIndex { next in
      if next == "\"" { isQuoted.toggle() }
      return next == character && !isQuoted
    }
  }
}
