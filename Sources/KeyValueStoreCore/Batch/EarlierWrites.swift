import Files
import StoreEngine

/// The writes before a batch that nobody sees yet, and how the batch rests on them.
struct EarlierWrites {
  private let writes: [WriteUnderWay]
  /// Nil where there are none.
  private let found: Found?

  /// A class, because reading changes no batch.
  private final class Found {
    var writes: [WriteUnderWay] = []
  }

  /// Takes those that are under way now.
  ///
  /// The batch must not have read anything before: what is over by now is seen by every reader.
  init(_ underWay: WritesUnderWay) {
    writes = underWay.all
    found = writes.isEmpty ? nil : Found()
  }

  /// Whether there are none.
  @inline(__always)
  var isEmpty: Bool { found == nil }

  /// The writes that had a key that the batch has looked at.
  var basis: [WriteUnderWay] { found?.writes ?? [] }

  /// The times of an item as the last of the writes leaves it: nil inside the optional where that
  /// deletes it, nil if none has touched it.
  @inline(never)
  func head(_ key: RawSpan, _ hash: UInt64, in state: TableState) -> ItemHead?? {
    switch find(key, hash, in: state) {
    case (.item(let item), _)?: .some(item.head)
    case (.cleared, _)?: .some(nil)
    case nil: nil
    }
  }

  /// How the last of the writes leaves a key; nil if none has touched it.
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
