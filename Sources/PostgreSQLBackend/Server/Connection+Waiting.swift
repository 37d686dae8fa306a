import CLibPQ

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

// The wait for the answers of statements that were sent by `begin(_:)`, without a thread.
extension Connection {
  /// The socket, to be watched.
  var descriptor: Int32 { unsafe PQsocket(connection) }

  /// Sends what was not sent yet, and reads what has come, without waiting.
  ///
  /// - Parameter isReady: Whether something can be read or written.
  /// - Returns: The events of the socket to wait for; nil if the answer has come, or has begun to.
  /// - Throws: The failure.
  func proceed(isReady: Bool) throws(ServerFailure) -> Int16? {
    if isReady, unsafe PQconsumeInput(connection) != 1 { throw lost() }
    let rest = unsafe PQflush(connection)
    guard rest >= 0 else { throw lost() }
    if unsafe PQisBusy(connection) == 0 { return nil }
    return Int16(rest == 1 ? POLLIN | POLLOUT : POLLIN)
  }
}
