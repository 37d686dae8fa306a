import StoredObjectsCore

/// A finding, as JSON has it.
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

/// A number of bytes, for people.
func bytesText(_ count: Int) -> String {
  if count < 10_000 { return "\(count) bytes" }
  if count < 10_000_000 { return "\(count / 1000) kB" }
  return "\(count / 1_000_000) MB"
}

/// Bytes in hex, two digits each.
func hexText(_ bytes: some Sequence<UInt8>) -> String {
  let digits = Array("0123456789abcdef".utf8)
  var text: [UInt8] = []
  for byte in bytes {
    text.append(digits[Int(byte >> 4)])
    text.append(digits[Int(byte & 15)])
  }
  return String(decoding: text, as: UTF8.self)
}

/// A word with its number.
func counted(_ count: Int, _ one: String, _ many: String) -> String {
  "\(count) \(count == 1 ? one : many)"
}

/// What there is to say of a log that a crash has cut off.
func tornTailText(_ byteCount: Int) -> String {
  "the log ends with \(bytesText(byteCount)) of a save that was never finished; it is left out"
}
