import StoredObjectsCore

/// A promise that a backend, or a store, has not kept.
public struct ConformanceFailure: Error, CustomStringConvertible {
  /// What was expected, and what came.
  public let what: String
  /// The file of the check.
  public let file: String
  /// The line of the check.
  public let line: UInt

  package init(_ what: String, _ file: StaticString = #fileID, _ line: UInt = #line) {
    self.what = what
    self.file = "\(file)"
    self.line = line
  }

  /// What happened, and where the check stands.
  public var description: String { "\(file):\(line): \(what)" }
}

func expect(
  _ condition: Bool, _ what: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) throws {
  if !condition { throw ConformanceFailure(what(), file, line) }
}

/// Compares two values, and shows both, shortened.
func expectEqual<Value: Equatable>(
  _ value: Value, _ expected: Value, _ what: @autoclosure () -> String,
  file: StaticString = #fileID, line: UInt = #line
) throws {
  if value == expected { return }
  throw ConformanceFailure(
    "\(what()): \(shortened(value)) instead of \(shortened(expected))", file, line)
}

private func shortened<Value>(_ value: Value) -> String {
  let text = "\(value)"
  return text.utf8.count > 400 ? "\(text.prefix(400))…" : text
}

/// Expects a `StoreError` of one kind.
func expectError(
  _ code: StoreError.Code, _ what: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line, _ body: () throws -> Void
) throws {
  do {
    try body()
  } catch let error as StoreError {
    return try expectEqual(error.code, code, what(), file: file, line: line)
  } catch {
    throw ConformanceFailure("\(what()): \(error) instead of a StoreError", file, line)
  }
  throw ConformanceFailure("\(what()): no error instead of \(code)", file, line)
}
