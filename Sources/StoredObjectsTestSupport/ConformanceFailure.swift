import StoredObjectsCore

/// The error for a broken promise of a backend or a store.
public struct ConformanceFailure: Error, CustomStringConvertible {
  /// A description of the expected and the actual result.
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

  /// The description, with the location of the check.
  public var description: String { "\(file):\(line): \(what)" }
}

func expect(
  _ condition: Bool, _ what: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) throws {
  if !condition { throw ConformanceFailure(what(), file, line) }
}

/// Throws if two values differ, with a shortened description of both.
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

/// Throws unless a closure throws a `StoreError` with a code.
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
