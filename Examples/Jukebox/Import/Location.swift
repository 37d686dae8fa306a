import Foundation

/// Where a song's sound is: kept as a URL, as iTunes does.
enum Location {
  /// Returns the URL for a path in an M3U playlist.
  ///
  /// URLs and Windows paths stay as they are.
  static func url(_ text: String, relativeTo folder: URL) -> String {
    if text.contains("://") || text.contains("\\") { return text }
    if text.hasPrefix("/") { return URL(fileURLWithPath: text).standardized.absoluteString }
    return folder.appendingPathComponent(text).standardized.absoluteString
  }

  /// Returns a key that is equal for different spellings of a location.
  static func key(_ location: String) -> String {
    for prefix in ["file://localhost/", "file:///"] where location.hasPrefix(prefix) {
      let path = "/" + location.dropFirst(prefix.count)
      return path.removingPercentEncoding ?? path
    }
    return location
  }

  /// Returns the name of the file without its extension, as the title of a song without a title.
  static func title(_ text: String) -> String {
    let last = text.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? text
    guard let dot = last.lastIndex(of: "."), dot != last.startIndex else { return last }
    return String(last[..<dot])
  }
}
