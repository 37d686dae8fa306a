import Files

/// A cursor over all changes of several runs, in merge order.
struct MergeCursor: ChangeCursor {
  private var order: MergeOrder
  private var part: MergeOrder.Part?
  private var index = 0

  init(_ runs: [KeyRun]) {
    order = MergeOrder(runs)
    nextPart()
  }

  var isAtEnd: Bool { part == nil }

  var next: (bytes: [UInt8], change: ChangeSet.KeyChange)? {
    part.map { (order.runs[$0.run].bytes, order.runs[$0.run].changes[index]) }
  }

  var head: KeyHead? {
    part.map { part in
      let run = order.runs[part.run]
      return run.bytes.lend(run.changes[index].key) { KeyHead($0) }
    }
  }

  func compareNext(_ key: RawSpan) -> Int? {
    part.map { order.runs[$0.run].compare(index, key) }
  }

  mutating func step() {
    index += 1
    if index == part?.indices.upperBound { nextPart() }
  }

  private mutating func nextPart() {
    part = order.next()
    index = part?.indices.lowerBound ?? 0
  }
}

extension MergeCursor {
  /// Calls a closure with all keys of runs that are not removed, and their values, in order.
  static func lendAll(
    of runs: [KeyRun], _ body: (RawSpan, RawSpan) throws(StoreError) -> Void
  ) throws(StoreError) {
    var order = MergeOrder(runs)
    while let part = order.next() {
      let run = runs[part.run]
      try run.bytes.lend { (bytes) throws(StoreError) in
        for change in run.changes[part.indices] where !change.isRemoval {
          try body(bytes.extracting(change.key), bytes.extracting(change.value))
        }
      }
    }
  }
}
