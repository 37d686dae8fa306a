/// What a store says of the one that it follows: an ordered table with one key.
///
///     0  -->  format (1), whether the copy is whole (1), the last commit that was applied: history
///             ID (16), number (8), token (16)
///
/// Each commit that a follower applies writes it, in the same step. A store without the key is a
/// store of its own.
struct FollowerMark: Equatable, Sendable {
  static let table = OrderedTableName("Following", kind: .data)
  static let key: [UInt8] = [0]
  private static let version: UInt8 = 1

  var position: HistoryPosition
  /// False while the first copy is being made.
  var isWhole = true

  init(_ position: HistoryPosition, isWhole: Bool = true) {
    (self.position, self.isWhole) = (position, isWhole)
  }

  init(_ bytes: [UInt8]) throws(DataBufferError) {
    var buffer = DataBuffer(bytes)
    guard try buffer.readUInt8() == Self.version else {
      throw DataBufferError(.invalidValue, at: 0, "written by a later version of this library")
    }
    isWhole = try buffer.readBool()
    position = try HistoryPosition(from: &buffer)
  }

  var bytes: [UInt8] {
    var buffer = DataBuffer()
    buffer.write(Self.version)
    buffer.write(isWhole)
    position.encode(to: &buffer)
    return buffer.bytes
  }
}

/// What a commit on a follower is that takes others' place.
package final class ReplicatedCommit: Sendable {
  /// The commit of the other store, whose token, author and time this one gets; nil for a new one.
  let commit: Commit?
  /// Whether the commit gets an entry in the history, and does not bring its own.
  let isRemembered: Bool

  init(_ commit: Commit?, isRemembered: Bool = false) {
    (self.commit, self.isRemembered) = (commit, isRemembered)
  }
}

extension CommitRequest {
  /// A request for a commit of the follower itself.
  static func replicating(_ commit: Commit?, isRemembered: Bool = false) -> CommitRequest {
    var request = CommitRequest(author: commit?.author ?? "")
    request.replication = ReplicatedCommit(commit, isRemembered: isRemembered)
    return request
  }
}
