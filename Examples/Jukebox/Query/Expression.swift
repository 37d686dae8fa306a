import ConditionSyntax

/// A condition for songs: the value of `--where`.
///
///     artist starts with "Johann" and (time >= 3:30 or album = none) and not title contains 'Gigue'
typealias Expression = Condition<SongAttribute, SongValue>

/// The value of a comparison, of the attribute's type.
enum SongValue: Equatable {
  case text(String)
  case number(Int64)
  /// A time in whole seconds.
  case time(Int64)
  /// The value `none`, of a song without the attribute.
  case none
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

extension Expression {
  /// Parses an expression.
  ///
  /// - Throws: ``Failure`` with the position of the error.
  init(_ source: String) throws(Failure) {
    do throws(ConditionError) {
      self = try ConditionParser.parse(source, SongVocabulary())
    } catch {
      throw Failure(error, in: source)
    }
  }
}

extension Failure {
  /// Creates the message of an error in an expression, with its position and a mark below it.
  fileprivate init(_ error: ConditionError, in expression: String) {
    let before = String(expression.prefix(error.position)).forTerminal
    self.init(
      """
      At character \(error.position + 1) of the expression: \(error.message).
        \(expression.forTerminal)
        \(String(repeating: " ", count: before.columnCount))^
      """)
  }
}
