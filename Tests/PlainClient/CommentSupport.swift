import StoredObjects

/// Returns a value for code that is compiled, and not run.
func notRun<Value>() -> Value { preconditionFailure("The examples of comments are not run.") }

/// Collects the values of expressions in examples, so that they are not unused.
@resultBuilder enum Values {
  static func buildExpression(_ value: Any) -> Any { value }
  static func buildBlock(_ values: Any...) -> [Any] { values }
}

/// A view of an app with a text.
final class CommentLabel {
  enum Font { case system(Double) }

  var text = ""
  var font = Font.system(12)
}

/// A year of an album.
struct Year { var number = 0 }
