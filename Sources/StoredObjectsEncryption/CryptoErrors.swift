import StoreEngine

/// Runs calls of the crypto library and of the system, and converts their errors to `StoreError`.
func cryptoErrors<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
  do { return try body() } catch { throw .wrapping(error, .ioError, at: .init()) }
}
