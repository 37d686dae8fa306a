import RecordBrowsing
import StoreEngine

/// A request for data.
package struct APICall: Sendable {
  /// The path below /api/.
  package var path: String
  /// Whether the call changes something.
  package var isPost: Bool
  /// The parameters.
  package var query: [String: String]
  /// The body, in JSON.
  package var body: [UInt8]

  /// Creates a call.
  package init(
    path: String, isPost: Bool = false, query: [String: String] = [:], body: [UInt8] = []
  ) { (self.path, self.isPost, self.query, self.body) = (path, isPost, query, body) }

  /// Returns a parameter that has to be there.
  func text(_ name: String) throws(BrowsingError) -> String {
    guard let text = query[name], !text.isEmpty else {
      throw BrowsingError(.invalid, "The parameter \"\(name)\" is missing.")
    }
    return text
  }

  /// Returns the body as JSON.
  func json() throws(BrowsingError) -> StoredValue {
    do { return try JSONReader.value(in: body, body.indices) } catch {
      throw BrowsingError(.invalid, "The request is not JSON.")
    }
  }

  /// Returns a number in a range, or a default.
  func number(_ name: String, in range: ClosedRange<Int>, default value: Int) -> Int {
    query[name].flatMap { Int($0) }.map { min(max($0, range.lowerBound), range.upperBound) }
      ?? value
  }

  /// Returns the object that a parameter names.
  func address(_ name: String = "id") throws(BrowsingError) -> ObjectAddress {
    let text = try text(name)
    guard let address = ObjectAddress(text) else {
      throw BrowsingError(.invalid, "\"\(text.prefix(80))\" is not an ID, such as Song/42.")
    }
    return address
  }
}

/// The answer to a request for data, in JSON.
package struct APIResponse: Sendable {
  /// The status of HTTP.
  package var status: Int
  /// The body.
  package var body: [UInt8]

  var phrase: String {
    switch status {
    case 200: "OK"
    case 404: "Not Found"
    case 409: "Conflict"
    case 403: "Forbidden"
    case 500: "Internal Server Error"
    default: "Bad Request"
    }
  }

  /// Creates an answer with a value.
  init(_ value: StoredValue, status: Int = 200) {
    self.status = status
    var bytes: [UInt8] = []
    do { try JSONWriter.append(value, to: &bytes) } catch {
      bytes = Array(#"{"error":"The answer can't be written as JSON."}"#.utf8)
      self.status = 500
    }
    body = bytes
  }

  /// Creates an answer with an error.
  static func error(
    _ message: String, kind: String = "error", status: Int = 400,
    _ more: [String: StoredValue] = [:]
  ) -> APIResponse {
    let fields: [String: StoredValue] = ["error": .string(message), "kind": .string(kind)]
    return APIResponse(.dictionary(fields.merging(more) { first, _ in first }), status: status)
  }
}
