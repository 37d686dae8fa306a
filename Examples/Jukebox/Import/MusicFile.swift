import Foundation

/// The content of a file to import, of either kind.
enum MusicFile {
  case library(LibraryFile)
  case playlist(PlaylistFile)

  /// Reads and checks a file, without a store.
  static func read(at path: String) throws -> MusicFile {
    let url = URL(fileURLWithPath: path)
    do {
      return try parse(try contents(of: url), at: url)
    } catch let failure as Failure {
      throw Failure("\(path.forTerminal) \(failure).")
    }
  }

  private static func contents(of url: URL) throws -> Data {
    switch FileKind(at: url.path) {
    case .missing: throw Failure("does not exist")
    case .directory: throw Failure("is a directory, not a file")
    case .file: break
    }
    do {
      return try Data(contentsOf: url)
    } catch {
      throw Failure("can't be read: \(error.localizedDescription)".withoutFinalStop)
    }
  }

  private static func parse(_ data: Data, at url: URL) throws -> MusicFile {
    let isM3U = ["m3u", "m3u8"].contains(url.pathExtension.lowercased())
    if isM3U || data.starts(with: Array("#EXTM3U".utf8)) {
      return .playlist(try M3UReader.read(data, at: url))
    }
    return .library(try PropertyListReader.read(data))
  }
}
