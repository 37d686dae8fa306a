import Files
import StoreEngine

/// The pending writes before a batch, and the ones among them that the batch depends on.
struct EarlierWrites {
  private let writes: [WriteUnderWay]
  /// The writes that the batch has read; nil if there are no pending writes.
  private let found: Found?

  /// A class, so that a read does not mutate the batch.
  private final class Found {
    var writes: [WriteUnderWay] = []
  }

  /// Captures the writes that are pending now.
  ///
  /// The batch must not have read anything before: every reader sees the writes that have ended.
  init(_ underWay: WritesUnderWay) {
    writes = underWay.all
    found = writes.isEmpty ? nil : Found()
  }

  /// Whether there are no pending writes.
  @inline(__always)
  var isEmpty: Bool { found == nil }

  /// The writes that contained a key that the batch has read.
  var basis: [WriteUnderWay] { found?.writes ?? [] }

  /// Returns the times of an item after the last of the writes.
  ///
  /// Returns `.some(nil)` if that write deletes the item, and nil if no write has changed it.
  @inline(never)
  func head(_ key: RawSpan, _ hash: UInt64, in state: TableState) -> ItemHead?? {
    switch find(key, hash, in: state) {
    case (.item(let item), _)?: .some(item.head)
    case (.cleared, _)?: .some(nil)
    case nil: nil
    }
  }

  /// Returns the state of a key after the last of the writes; nil if none has changed it.
  func find(_ key: String, in state: TableState) -> (WriteUnderWay.Find, WriteUnderWay)? {
    isEmpty ? nil : key.lendUTF8 { find($0, $0.keyHash, in: state) }
  }

  private func find(
    _ key: RawSpan, _ hash: UInt64, in state: TableState
  ) -> (WriteUnderWay.Find, WriteUnderWay)? {
    guard let seen = found else { return nil }
    for write in writes.reversed() where write.failure == nil {
      guard let found = write.find(key, hash, in: state) else { continue }
      if !seen.writes.contains(where: { $0 === write }) { seen.writes.append(write) }
      return (found, write)
    }
    return nil
  }
}
