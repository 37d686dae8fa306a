/// A condition for songs: the value of `--where`.
///
///     artist starts with "Johann" and (time >= 3:30 or album = none) and not title contains 'Gigue'
///
/// A comparison is an attribute, an operator and a value. `not` binds tighter than `and`, and `and`
/// tighter than `or`.
indirect enum Expression: Equatable {
  case all([Expression])
  case any([Expression])
  case not(Expression)
  case comparison(SongAttribute, Comparison, Value)
  case oneOf(SongAttribute, [Value])

  /// An operator of a comparison.
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

  /// The value of a comparison, of the attribute's type.
  enum Value: Equatable {
    case text(String)
    case number(Int64)
    /// A time in whole seconds.
    case time(Int64)
    /// The value `none`, of a song without the attribute.
    case none
  }
}

/// An attribute of a song, by its name in an expression.
enum SongAttribute: String, CaseIterable {
  case id, title, artist, album, location, time

  /// Creates the attribute with a name, whose case does not matter.
  init?(_ name: String) { self.init(rawValue: name.lowercased()) }

  var isText: Bool { self != .id && self != .time }

  /// The list of all names, for messages.
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
