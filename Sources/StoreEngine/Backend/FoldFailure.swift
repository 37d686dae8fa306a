/// A failure to fold the commit log into the files of a store.
public struct FoldFailure: Sendable {
  /// The cause: no space, no permission, or a damaged file.
  public let error: StoreError
  /// The number of attempts since the last success.
  public let tryCount: Int
  /// The size of the log in bytes.
  public let logByteCount: Int
}

extension StoreBackend {
  /// The reason why the log can't be folded: nil, since the backend has no log.
  public var foldFailure: FoldFailure? { nil }
}
