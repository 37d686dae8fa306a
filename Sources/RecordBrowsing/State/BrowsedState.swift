import Locks
package import StoreEngine
import StoredObjectsCore

/// One state of a store that does not change, with its classes and what was found out about them.
///
/// Safe on any thread.
package final class BrowsedState: Sendable {
  /// The data, as of one commit.
  package let backend: any StoreBackend
  /// The number of the last commit.
  package let number: UInt64
  /// The classes in the order of their IDs.
  package let classes: [BrowsedClass]
  let classNames: [UInt8: String]
  private let positions: [String: Int]
  let findings = Locked(Findings())
  private let onEnd: @Sendable () -> Void

  /// Results that are valid as long as the state.
  struct Findings: Sendable {
    var indexes: [String: [BrowsedIndex]] = [:]
    var sortedRows: [String: [UInt32]] = [:]
    var rows: [String: [UInt32]] = [:]
    var inverses: [String: [InversePair]] = [:]
  }

  /// Reads the classes of a backend that does not change.
  ///
  /// Complexity: linear in the number of classes.
  ///
  /// - Parameters:
  ///   - backend: A snapshot, or a backend that is open for reading.
  ///   - onEnd: Called when nobody uses the state any more.
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged`, `ioError` or `closed`.
  package init(
    _ backend: any StoreBackend, onEnd: @escaping @Sendable () -> Void = {}
  ) throws(StoreError) {
    (self.backend, self.onEnd) = (backend, onEnd)
    number = backend.lastCommitNumber
    classes = try backend.tableNames().map { (name) throws(StoreError) in
      try BrowsedClass(name, backend)
    }
    .filter { $0.metadata != nil || $0.objectCount > 0 || $0.damage != nil }
    .sorted { ($0.metadata?.classID ?? .max, $0.name) < ($1.metadata?.classID ?? .max, $1.name) }
    classNames = Dictionary(
      classes.compactMap { known in known.metadata.map { ($0.classID, known.name) } }
    ) { first, _ in first }
    positions = Dictionary(classes.enumerated().map { ($1.name, $0) }) { first, _ in first }
  }

  deinit { onEnd() }

  /// Returns the class of a name.
  ///
  /// - Throws: ``BrowsingError`` with `notFound`.
  package func browsedClass(_ name: String) throws(BrowsingError) -> BrowsedClass {
    if let position = positions[name] { return classes[position] }
    let names = classes.map(\.name).joined(separator: ", ")
    throw BrowsingError(
      .notFound, "There is no class \"\(name)\" in this store. There are: \(names).")
  }

  /// The saves and look-ups of the programs that have the store open; nil if none is known.
  ///
  /// It is that of now, also for an earlier state.
  package var activity: StoreActivity? {
    backend is any DirectoryBackend ? StoreActivity(ofStoreAt: backend.location) : nil
  }

  /// Returns the size of the file of a class; nil if the store has no files.
  package func fileSize(of known: BrowsedClass) -> Int? {
    try? (backend as? any DirectoryBackend)?.fileSize(of: known.name)
  }

  /// Whether the store keeps a history.
  package var hasHistory: Bool { (try? backend.historyStart()) ?? nil != nil }
}

/// An error of browsing a store, in words for its user.
package struct BrowsingError: Error, Sendable, CustomStringConvertible {
  /// The kinds of error.
  package enum Kind: String, Sendable {
    /// There is no such class, object or property.
    case notFound
    /// The request makes no sense.
    case invalid
    /// The store is open for reading only.
    case readOnly
    /// The object has changed since it was read.
    case conflict
    /// The edit needs a confirmation of its effects.
    case unconfirmed
    /// The edit could damage what only the program knows.
    case refused
  }

  /// The kind of error.
  package let kind: Kind
  /// A description of what happened and what to do.
  package let description: String
  /// The position of an error in a query, in characters from 0.
  package var position: Int?
  /// The confirmation that an unconfirmed edit needs.
  package var confirmation: String?
  /// The object of a conflict.
  package var id: String?

  /// Creates an error.
  package init(_ kind: Kind, _ description: String) {
    (self.kind, self.description) = (kind, description)
  }
}
