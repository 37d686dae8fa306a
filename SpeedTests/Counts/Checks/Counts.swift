import CCounts

/// The allocations and disk accesses of some work.
struct Counts: Sendable {
  var allocations = 0
  var opens = 0
  var writes = 0
  /// The number of bytes written by calls; bytes written through mapped memory show in the file
  /// sizes.
  var bytes = 0
  /// The number of calls that make bytes durable, by any method.
  var syncs = 0
  var renames = 0

  /// The counts since the process began.
  static var now: Counts {
    Counts(
      allocations: counts_of(Int32(COUNTS_ALLOCATIONS)), opens: counts_of(Int32(COUNTS_OPENS)),
      writes: counts_of(Int32(COUNTS_WRITES)), bytes: counts_of(Int32(COUNTS_BYTES)),
      syncs: counts_of(Int32(COUNTS_SYNCS)), renames: counts_of(Int32(COUNTS_RENAMES)))
  }

  /// Each count with its name.
  static var kinds: [(name: String, of: KeyPath<Counts, Int>)] {
    [
      ("allocations", \.allocations), ("opens", \.opens), ("writes", \.writes),
      ("bytes", \.bytes), ("syncs", \.syncs), ("renames", \.renames),
    ]
  }
}

extension Counts {
  static func - (after: Counts, before: Counts) -> Counts {
    Counts(
      allocations: after.allocations - before.allocations, opens: after.opens - before.opens,
      writes: after.writes - before.writes, bytes: after.bytes - before.bytes,
      syncs: after.syncs - before.syncs, renames: after.renames - before.renames)
  }

  /// Returns the counts of a closure.
  static func of(_ body: () throws -> Void) rethrows -> Counts {
    let before = now
    try body()
    return now - before
  }
}
