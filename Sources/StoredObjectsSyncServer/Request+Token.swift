#if SyncServer
  import Hummingbird

  extension Request {
    /// The token of the header `Authorization: Bearer …`.
    var bearerToken: String? {
      guard let header = headers[.authorization], header.hasPrefix("Bearer ") else { return nil }
      let token = header.dropFirst("Bearer ".count)
      return token.isEmpty ? nil : String(token)
    }
  }
#endif
