import StoredObjectsCore

/// A finding in JSON.
struct FindingReport: Encodable {
  var kind: String
  var path: String?
  var className: String?
  var rowID: UInt32?
  var offset: Int?
  var message: String

  init(_ finding: StoreFinding) {
    kind = finding.kind.description
    path = finding.location.path
    className = finding.location.className
    rowID = finding.location.rowID
    offset = finding.location.offset
    message = finding.message
  }

  enum CodingKeys: String, CodingKey {
    case kind, path
    case className = "class"
    case rowID, offset, message
  }
}

/// Returns a number of bytes in readable form.
func bytesText(_ count: Int) -> String {
  if count < 10_000 { return "\(count) bytes" }
  if count < 10_000_000 { return "\(count / 1000) kB" }
  return "\(count / 1_000_000) MB"
}

/// Returns a number with its noun in the singular or plural.
func counted(_ count: Int, _ one: String, _ many: String) -> String {
  "\(count) \(count == 1 ? one : many)"
}

/// Returns the message for a log that a crash has cut off.
func tornTailText(_ byteCount: Int) -> String {
  "the log ends with \(bytesText(byteCount)) of a save that was never finished; it is left out"
}
