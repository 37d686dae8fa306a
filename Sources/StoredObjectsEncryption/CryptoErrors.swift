import StoreEngine

/// Runs calls of the crypto library and of the system, and makes their errors those of a store.
func cryptoErrors<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
  do { return try body() } catch { throw .wrapping(error, .ioError, at: .init()) }
}
