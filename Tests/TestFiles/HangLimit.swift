public import Testing

extension Trait where Self == TimeLimitTrait {
  /// Ends tests that would otherwise never end.
  ///
  /// All tests begin at once and share a few threads, so a test with an `await` can wait for all
  /// the others. A limit of a minute would measure them.
  public static var hangLimit: Self { .timeLimit(.minutes(30)) }
}
