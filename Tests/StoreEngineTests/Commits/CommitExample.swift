import Foundation

@testable import StoreEngine

extension Commit {
  /// A commit whose fields all have different bytes.
  static let example = Commit(
    number: 1, token: CommitToken(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F),
    author: "", microseconds: 1_000_000, basedOn: nil)
}
