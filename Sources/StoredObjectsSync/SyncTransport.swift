/// A connection that carries the requests of a device to its server.
///
/// The bytes of an answer may come in any number of parts. An error means that it is not known
/// whether the server has got the request: the device finds out with its next one.
public protocol SyncTransport: Sendable {
  /// Sends a request, and passes the bytes of the answer to a closure as they come.
  ///
  /// Complexity: one round trip to the server, and linear in the size of request and answer.
  ///
  /// - Throws: Any error of the connection, and errors of the closure.
  func send(_ request: [UInt8], receive: @Sendable ([UInt8]) async throws -> Void) async throws
}

/// A device or a user, as a server knows it from the token of a request.
public struct SyncDevice: Sendable, Hashable {
  /// The ID of the device, which never changes, at most 64 bytes of UTF-8.
  public let id: String

  /// Creates a device.
  public init(id: String) { self.id = id }
}
