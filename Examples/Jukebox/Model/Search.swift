import Foundation

/// Finds a text in songs, whatever its case and its accents.
struct Search {
  private let wanted: String

  init(_ text: String) { wanted = text.folded }

  /// Whether the text is a part of the title, the artist or the album.
  func matches(_ song: Song) -> Bool {
    // An empty text is a part of any.
    if wanted.isEmpty { return true }
    return [song.title, song.artist, song.album].contains { field in
      field.map { $0.folded.contains(wanted) } ?? false
    }
  }
}

extension String {
  /// The text without case and accents, for comparing.
  var folded: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return lowercased() }
    return folding(
      options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
  }
}
