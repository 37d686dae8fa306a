import Dispatch
import FlyingFox
import Foundation

/// Answers requests: with the files of the page, and with data.
struct PageHandler: Sendable {
  let guarding: RequestGuard
  let session: BrowserSession

  /// Answers a request.
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    var response: HTTPResponse
    do {
      try guarding.checkOrigin(request)
      if request.method == .GET, let token = request.query.first(where: { $0.name == "token" }) {
        response = try enter(request, token.value)
      } else {
        try guarding.checkToken(request)
        response = try await authorized(request)
      }
    } catch let refusal as RequestGuard.Refusal {
      response = Self.refused(refusal)
    } catch {
      response = HTTPResponse(statusCode: .internalServerError)
    }
    for (name, value) in Self.headers { response.headers[HTTPHeader(name)] = value }
    return response
  }

  /// The headers of every response.
  private static let headers = [
    (
      "Content-Security-Policy",
      """
      default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
      """
    ),
    ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
  ]

  /// Puts the token of the URL into a cookie, so that it leaves the address bar.
  private func enter(_ request: HTTPRequest, _ token: String) throws -> HTTPResponse {
    guard request.path == "/", guarding.token.matches(token) else {
      throw RequestGuard.Refusal.noToken
    }
    let cookie =
      "\(guarding.cookieName)=\(guarding.token.text); Path=/; HttpOnly; SameSite=Strict"
    let headers: HTTPHeaders = [.location: "/", .setCookie: cookie]
    return HTTPResponse(statusCode: .seeOther, headers: headers)
  }

  private static func refused(_ refusal: RequestGuard.Refusal) -> HTTPResponse {
    let (status, text): (HTTPStatusCode, String) =
      switch refusal {
      case .foreignHost, .foreignOrigin:
        (.forbidden, "This page can be opened only at its own address.")
      case .noToken:
        (
          .unauthorized,
          "The address has no valid token. Open the URL that stored-objects has printed."
        )
      case .badMethod: (.methodNotAllowed, "Only GET and POST are possible.")
      case .badPath: (.uriTooLong, "The address is too long.")
      case .badType: (.unsupportedMediaType, "A body has to be JSON.")
      }
    return HTTPResponse(
      statusCode: status, headers: [.contentType: "text/plain; charset=utf-8"],
      body: Data(text.utf8))
  }

  // MARK: Authorized requests

  private func authorized(_ request: HTTPRequest) async throws -> HTTPResponse {
    if request.method == .GET, let file = PageFile.all[request.path] {
      return HTTPResponse(
        statusCode: .ok, headers: [.contentType: file.type], body: Data(file.bytes))
    }
    guard request.path.hasPrefix("/api/") else {
      return Self.json(.notFound, APIResponse.error("There is nothing at this address.").body)
    }
    var call = APICall(
      path: String(request.path.dropFirst(5)), isPost: request.method == .POST,
      query: Dictionary(request.query.map { ($0.name, $0.value) }) { first, _ in first }, body: [])
    if call.isPost {
      try guarding.checkPost(request)
      guard let body = try await Self.body(of: request) else {
        return Self.json(
          .payloadTooLarge, APIResponse.error("The request is larger than 1 MiB.").body)
      }
      call.body = body
    }
    let response = await answer(call)
    return Self.json(HTTPStatusCode(response.status, phrase: response.phrase), response.body)
  }

  /// Reads a body; returns nil if it is too large.
  private static func body(of request: HTTPRequest) async throws -> [UInt8]? {
    var bytes: [UInt8] = []
    var count = 0
    for try await piece in request.bodySequence {
      count += piece.count
      // The rest is read too, up to a point, so that the sender gets the answer.
      if count > 64 * RequestGuard.maximumBodyByteCount { return nil }
      if count <= RequestGuard.maximumBodyByteCount { bytes += piece }
    }
    return count <= RequestGuard.maximumBodyByteCount ? bytes : nil
  }

  /// Answers a call on another thread, since reading a store waits for the disk.
  private func answer(_ call: APICall) async -> APIResponse {
    await withCheckedContinuation { continuation in
      DispatchQueue.global(qos: .userInitiated).async { [session] in
        continuation.resume(returning: session.respond(to: call))
      }
    }
  }

  private static func json(_ status: HTTPStatusCode, _ body: [UInt8]) -> HTTPResponse {
    HTTPResponse(
      statusCode: status, headers: [.contentType: "application/json; charset=utf-8"],
      body: Data(body))
  }
}
