/// The 16 hexadecimal digits by which iTunes knows a track or a playlist for ever.
enum PersistentID {
  static let playlistKey = "Playlist Persistent ID"

  /// A new one.
  static func make() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16, uppercase: true)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// That of a playlist, if it has one.
  static func of(_ attributes: Attributes) throws -> String? {
    guard case .string(let text) = try attributes.values()[playlistKey] else { return nil }
    return text
  }
}
