import Logging
import StoreEngine

extension Store {
  /// Reports to the delegate and the logger that checkpoints fail, once for each attempt.
  func tellFoldFailure() {
    let failure = backend.foldFailure
    let tries = failure?.tryCount ?? 0
    if tries == toldFoldFailures { return }
    toldFoldFailures = tries
    guard let failure else {
      return logger.notice("The commit log of \(backend.location) was folded again.")
    }
    logger.warning(
      "The commit log of \(backend.location) can't be folded and grows: \(failure.error)",
      metadata: ["tries": "\(failure.tryCount)", "logBytes": "\(failure.logByteCount)"])
    tell { $0.store(self, didFailToFold: failure) }
  }
}
