extension StoreError {
  /// The error of a lower layer or of the application, as one of the store's.
  package static func wrapping(_ error: any Error, _ code: Code, at location: Location)
    -> StoreError
  {
    switch error {
    case let error as StoreError: return error
    case let error as DataBufferError:
      var location = location
      location.offset = error.offset
      let code = code == .ioError ? .damaged : code
      return StoreError(code, "\(error.code): \(error.message).", at: location, underlying: error)
    default: return StoreError(code, "\(error)", at: location, underlying: error)
    }
  }
}
