extension StoreError {
  /// The error of a lower layer or of the application, as one of the store's.
  package static func wrapping(_ error: any Error, _ code: Code, at place: Place) -> StoreError {
    switch error {
    case let error as StoreError: return error
    case let error as DataBufferError:
      var place = place
      place.offset = error.offset
      let code = code == .ioError ? .damaged : code
      return StoreError(code, "\(error.code): \(error.message).", at: place, underlying: error)
    default: return StoreError(code, "\(error)", at: place, underlying: error)
    }
  }
}
