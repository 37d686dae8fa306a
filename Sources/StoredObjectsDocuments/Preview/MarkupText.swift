/// Returns a text for XML and HTML, between tags or in a quoted attribute.
///
/// Characters that XML does not allow, and those that change the direction of others, are replaced.
func escaped(_ text: String, limit: Int = 200) -> String {
  var result = ""
  for scalar in printable(text, limit: limit).unicodeScalars {
    switch scalar {
    case "&": result += "&amp;"
    case "<": result += "&lt;"
    case ">": result += "&gt;"
    case "\"": result += "&quot;"
    case "'": result += "&#39;"
    case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}
