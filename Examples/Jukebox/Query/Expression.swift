/// What a person asks of songs, as it is written behind `--where`.
///
///     artist starts with "Johann" and (time >= 3:30 or album = none) and not title contains 'Gigue'
///
/// A comparison is an attribute, an operator and a value. `not` goes before `and`, `and` before
/// `or`.
indirect enum Expression: Equatable {
  case all([Expression])
  case any([Expression])
  case not(Expression)
  case comparison(SongAttribute, Comparison, Value)
  case oneOf(SongAttribute, [Value])

  /// How an attribute is compared with a value.
  enum Comparison: String {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case contains = "contains"
    case starts = "starts with"
  }

  /// What an attribute is compared with, of the attribute's kind.
  enum Value: Equatable {
    case text(String)
    case number(Int64)
    /// Whole seconds.
    case time(Int64)
    /// `none`: the song does not have the attribute.
    case none
  }
}

/// What can be asked of a song, by the name that a person writes.
enum SongAttribute: String, CaseIterable {
  case id, title, artist, album, location, time

  /// The attribute of a name, in whatever case.
  init?(_ name: String) { self.init(rawValue: name.lowercased()) }

  var isText: Bool { self != .id && self != .time }

  /// All names, for a message.
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
