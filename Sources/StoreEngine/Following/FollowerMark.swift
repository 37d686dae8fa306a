/// The position of a follower in the followed history: an ordered table with one key.
///
///     0  -->  format (1), whether the copy is complete (1), the last applied commit: history ID
///             (16), number (8), token (16)
///
/// Each commit that a follower applies writes the mark in the same step. A store without the key
/// follows no other store.
struct FollowerMark: Equatable, Sendable {
  static let table = OrderedTableName("Following", kind: .data)
  static let key: [UInt8] = [0]
  private static let version: UInt8 = 1

  var position: HistoryPosition
  /// Whether the first copy is complete.
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

/// The properties of a commit that a follower makes in place of one of the followed store.
package final class ReplicatedCommit: Sendable {
  /// The commit of the followed store; nil for a new commit.
  ///
  /// The follower's commit has the same token, author and time.
  let commit: Commit?
  /// Whether a new entry in the history is made for the commit.
  ///
  /// False for a replicated commit, whose change set has the entry already.
  package let isRemembered: Bool

  init(_ commit: Commit?, isRemembered: Bool = false) {
    (self.commit, self.isRemembered) = (commit, isRemembered)
  }
}

extension CommitRequest {
  /// Returns a request for a commit that is allowed on a follower.
  static func replicating(_ commit: Commit?, isRemembered: Bool = false) -> CommitRequest {
    var request = CommitRequest(author: commit?.author ?? "")
    request.replication = ReplicatedCommit(commit, isRemembered: isRemembered)
    return request
  }
}
