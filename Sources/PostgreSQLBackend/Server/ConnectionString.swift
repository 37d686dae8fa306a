import CLibPQ

/// Parses a connection string.
///
/// - Returns: The settings in it; nil if it is not valid.
func parseConnectionString(_ text: String) -> [String: String]? {
  var message: UnsafeMutablePointer<CChar>?
  let options = unsafe PQconninfoParse(text, &message)
  // The message may contain parts of a password.
  unsafe PQfreemem(message)
  guard let first = unsafe options else { return nil }
  defer { unsafe PQconninfoFree(first) }
  var settings: [String: String] = [:]
  var option = unsafe first
  while let keyword = unsafe option.pointee.keyword {
    if let value = unsafe option.pointee.val {
      unsafe settings[String(cString: keyword)] = String(cString: value)
    }
    unsafe option += 1
  }
  return settings
}
