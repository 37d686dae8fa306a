import Files

extension StoreError {
  /// Converts an error of a lower layer or of the application to a store error.
  package static func wrapping(_ error: any Error, _ code: Code, at location: Location)
    -> StoreError
  {
    switch error {
    case let error as StoreError: return error
    case let error as SystemError: return StoreError(error)
    case let error as DataBufferError:
      var location = location
      location.offset = error.offset
      let code = code == .ioError ? .damaged : code
      return StoreError(code, "\(error.code): \(error.message).", at: location, underlying: error)
    default: return StoreError(code, "\(error)", at: location, underlying: error)
    }
  }

  /// Converts an error in decoding a save of the log to a store error.
  static func inSave(_ error: any Error) -> StoreError {
    guard let error = error as? DataBufferError else {
      return .wrapping(error, .damaged, at: Location())
    }
    return StoreError(
      .damaged, "A save in the log is not valid, though its checksum is right.",
      underlying: error)
  }
}
