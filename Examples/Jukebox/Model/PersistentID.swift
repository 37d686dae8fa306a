/// The permanent ID of a track or a playlist in iTunes: 16 hexadecimal digits.
enum PersistentID {
  static let playlistKey = "Playlist Persistent ID"

  /// Returns a new ID.
  static func make() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16, uppercase: true)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Returns the ID of a playlist; nil if it has none.
  static func of(_ attributes: Attributes) throws -> String? {
    guard case .string(let text) = try attributes.values()[playlistKey] else { return nil }
    return text
  }
}
