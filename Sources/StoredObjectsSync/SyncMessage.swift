import StoreEngine

/// A request of a device to its server.
enum SyncRequest: Sendable, Equatable {
  /// Makes classes known to the server, and asks for row IDs.
  case join([SyncClass])
  /// Asks for the commits after a position, or with nil for a copy of the store.
  case pull(after: HistoryPosition?, byteLimit: Int)
  /// Offers commits that are based on a position.
  case push(basedOn: HistoryPosition, commits: [[UInt8]])
  /// Sends parts of values outside of records, before the commits that refer to them.
  ///
  /// A part without bytes only asks how much of the value the server has.
  case send([ValuePart])
  /// Asks for values outside of records, each from an offset on.
  case fetch([ValuePlace], byteLimit: Int)
}

/// A class of a device, as its store would save it.
struct SyncClass: Sendable, Equatable {
  var name: String
  /// The metadata row that a new class gets, with a class ID that the server replaces.
  var metadata: [UInt8]
  /// The named buffer with the layouts; empty if there are none.
  var layouts: [UInt8]
  /// The number of row IDs that the device asks for.
  var rowCount: Int
}

/// Row IDs that belong to one device.
struct RowLease: Sendable, Hashable {
  var className: String
  var rows: ClosedRange<UInt32>
}

/// The answer of a server.
enum SyncAnswer: Sendable, Equatable {
  /// The row IDs that the device gets.
  case joined([RowLease])
  /// A stream of history entries follows.
  case history
  /// The commits are made; the last one is at this position.
  case accepted(HistoryPosition)
  /// Others have committed since: pull, and push again.
  case behind
  /// The request was refused.
  case failed(code: String, message: String)
  /// The number of bytes that the server now has of each value.
  case stored([Int])
  /// Parts of values, and the values that the server does not have.
  case values([ValuePart], missing: [ExternalReference])
}
