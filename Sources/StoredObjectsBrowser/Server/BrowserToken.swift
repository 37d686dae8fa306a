/// The secret that a browser has to know: 128 random bits in hex.
package struct BrowserToken: Sendable {
  /// The text in the URL and in the cookie.
  package let text: String

  /// Creates a token that nobody can guess.
  package init() {
    var generator = SystemRandomNumberGenerator()
    text = (0..<2).map { _ in
      let digits = String(generator.next(), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Returns whether a text is the token, in a time that does not depend on the text.
  package func matches(_ other: String) -> Bool {
    let (left, right) = (Array(text.utf8), Array(other.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
