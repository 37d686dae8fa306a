public import StoreEngine

extension LoggedBackend where Files == TokyoCabinetFiles {
  /// Checks a store that may not even open, without knowing its classes, and without changing it.
  ///
  /// First come the files' structure and the log, read by this library's own code; what is sound
  /// goes on to `BackendCheck`.
  ///
  /// Complexity: as `BackendCheck.run(progress:)` and ``TokyoCabinetFiles/inspect()``.
  ///
  /// - Throws: `StoreError` with `inUse`, `encrypted`, `notEncrypted` or `wrongKey`, or `ioError`
  ///   when the directory can't be read.
  public static func check(
    directory: String, key: (any StoreKey)? = nil,
    progress: (IntegrityProgress) -> Void = { _ in }
  ) throws -> StoreCheck {
    try TokyoCabinetFiles(reading: directory).check(key: key, progress: progress)
  }
}
