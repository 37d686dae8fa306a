/// That the commit log could not be folded into the files of a store.
public struct FoldFailure: Sendable {
  /// The cause: no room, no right, or a damaged file.
  public let error: StoreError
  /// How often it was tried since it went well.
  public let tryCount: Int
  /// How many bytes the log had.
  public let logByteCount: Int
}

extension StoreBackend {
  /// None.
  public var foldFailure: FoldFailure? { nil }
}
