public import FoundationEssentials

/// A saved state of a document, to look at or to go back to.
public struct DocumentVersion: Hashable, Sendable, Codable {
  /// The number of the last commit of the store that belongs to the version.
  public let commitNumber: UInt64
  /// The name that the save has given to the version; nil if none.
  public let name: String?
  /// The milliseconds since 1970, which a file keeps exactly.
  private let milliseconds: Int64

  /// The time of the save to the millisecond, by the clock of the machine.
  public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  init(commitNumber: UInt64, date: Date, name: String?) {
    (self.commitNumber, self.name) = (commitNumber, name)
    milliseconds = Int64(date.timeIntervalSince1970 * 1000)
  }
}

/// The content of `Versions.json`: the saves of a document.
///
/// The history in the store is the truth about what was saved. This file tells which of its commits
/// were saves by the user, and is written after them.
struct VersionList: Codable, Equatable {
  /// The maximum number of versions; older ones without a name are removed from the list.
  static let maximumCount = 10_000

  /// The last commit up to which the content is that of the last save.
  var saved: UInt64
  /// The saves, the oldest first.
  var versions: [DocumentVersion] = []

  init(saved: UInt64) { self.saved = saved }

  /// Decodes the bytes of the file; nil if they make no sense.
  init?(_ bytes: [UInt8]) {
    guard let list = try? JSONDecoder().decode(VersionList.self, from: Data(bytes)) else {
      return nil
    }
    self = list
    versions.sort { $0.commitNumber < $1.commitNumber }
  }

  func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return Array(try encoder.encode(self)) + [10]
  }

  mutating func append(_ version: DocumentVersion) {
    versions.removeAll { $0.commitNumber >= version.commitNumber }
    versions.append(version)
    saved = version.commitNumber
    if versions.count > Self.maximumCount {
      versions.remove(at: versions.firstIndex { $0.name == nil } ?? 0)
    }
  }

  /// Removes versions that the store does not have.
  mutating func limit(to commits: ClosedRange<UInt64>) {
    versions.removeAll { !commits.contains($0.commitNumber) }
    saved = min(saved, commits.upperBound)
  }
}
