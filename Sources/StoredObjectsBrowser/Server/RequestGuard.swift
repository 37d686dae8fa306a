import FlyingFox
import Foundation

/// The checks that every request has to pass before anything is read for it.
struct RequestGuard: Sendable {
  let port: UInt16
  let token: BrowserToken

  /// The reasons for which a request is refused.
  enum Refusal: Error, Equatable {
    case foreignHost, foreignOrigin, noToken, badMethod, badPath, badType
  }

  /// The largest body of a request, in bytes.
  static let maximumBodyByteCount = 1 << 20
  /// The longest path with its query, in bytes.
  static let maximumTargetByteCount = 16 << 10

  /// The name of the cookie; cookies are shared by the ports of a host.
  var cookieName: String { "stored-objects-\(port)" }

  private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }

  /// Checks a request, except for its token and its body.
  func checkOrigin(_ request: HTTPRequest) throws(Refusal) {
    // A page of another site can make its name lead to this machine, but not change this header.
    guard let host = request.headers[.host], hosts.contains(host.lowercased()) else {
      throw .foreignHost
    }
    if let origin = request.headers[HTTPHeader("Origin")] {
      guard hosts.contains(where: { "http://\($0)" == origin.lowercased() }) else {
        throw .foreignOrigin
      }
    }
    if let site = request.headers[HTTPHeader("Sec-Fetch-Site")] {
      guard site == "same-origin" || site == "none" else { throw .foreignOrigin }
    }
    guard request.target.rawValue.utf8.count <= Self.maximumTargetByteCount else { throw .badPath }
    guard request.method == .GET || request.method == .POST else { throw .badMethod }
  }

  /// Checks the token in the cookie.
  func checkToken(_ request: HTTPRequest) throws(Refusal) {
    let cookies = (request.headers[.cookie] ?? "").split(separator: ";")
    for cookie in cookies {
      let parts = cookie.split(separator: "=", maxSplits: 1).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      if parts.count == 2, parts[0] == cookieName, token.matches(parts[1]) { return }
    }
    throw .noToken
  }

  /// Checks a request that changes something.
  func checkPost(_ request: HTTPRequest) throws(Refusal) {
    // A browser sends it with every such request of a script.
    guard request.headers[HTTPHeader("Origin")] != nil else { throw .foreignOrigin }
    let type = request.headers[.contentType]?.lowercased() ?? ""
    guard type.hasPrefix("application/json") else { throw .badType }
  }
}
