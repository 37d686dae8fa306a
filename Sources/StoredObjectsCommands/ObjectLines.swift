import ArgumentParser
import RecordBrowsing
import StoredObjectsCore

/// The output of an object.
enum ObjectLines {
  static func write(_ id: String, _ values: StoredValue.Fields, isJSON: Bool) throws {
    if isJSON {
      let fields: [(String, StoredValue)] = [("id", .string(id)), ("values", .dictionary(values))]
      return try StandardOutput.write([ValueDump.text(.dictionary(StoredValue.Fields(fields)))])
    }
    try StandardOutput.write(
      [id] + values.map { name, value in "  \(name): \(try text(value, isJSON: false))" })
  }

  /// Returns a value in one line: JSON, or for a text without control characters the text itself.
  static func text(_ value: StoredValue, isJSON: Bool) throws -> String {
    if !isJSON, case .string(let text) = value, !text.isEmpty,
      text.unicodeScalars.allSatisfy({
        ![.control, .format, .lineSeparator].contains($0.properties.generalCategory)
      })
    {
      return text
    }
    return try ValueDump.text(value)
  }
}

extension ObjectAddress {
  /// Parses an argument of a command.
  init(argument text: String) throws {
    guard let address = ObjectAddress(text) else {
      throw ValidationError("\"\(text)\" is not an object: write a class and a row, as in Song/42.")
    }
    self = address
  }
}
