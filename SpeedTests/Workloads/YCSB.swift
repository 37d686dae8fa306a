import KeyValueStoreCore
import StoredObjectsCore
import WorkloadData

/// A mix of operations of the Yahoo! Cloud Serving Benchmark on a key-value table.
///
/// The count is the number of records at the beginning. Each operation is a transaction.
struct YCSB: Workload {
  enum Operation {
    case read
    /// Puts a whole record.
    case update
    case insert
    /// Reads up to 100 records in the order of their keys.
    case scan
    /// Reads a record, changes one of its ten fields, and puts it.
    case modify
  }

  let name: String
  let summary: String
  let frequent: Operation
  /// The percentage of the more frequent operation.
  let share: Int
  let other: Operation
  /// Whether the newest records are the most frequent ones.
  var hasLatest = false

  let defaultCounts = [100_000]
  let defaultOperations: Int? = 100_000
  let timing = Timing.inside
  let rivals: Set<String>? = ycsbRivals
  var durabilities: [Durability] { share == 100 ? [.full] : [.full, .process] }

  func prepare(_ workspace: Workspace, _ count: Int) throws { try loadAndReopen(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withTable { table in
      var client = YCSBClient(table: table, count: count, hasLatest: hasLatest)
      for number in 1...workspace.operations {
        let isFrequent = client.random.next(below: 100) < share
        try client.perform(isFrequent ? frequent : other, version: UInt64(number))
      }
    }
  }
}

/// The load phase of the benchmark.
struct YCSBLoad: Workload {
  let name = "YCSBLoad"
  let summary = "put records of 1 kB into a key-value table, 1,000 in each commit"
  let defaultCounts = [100_000]
  let durabilities: [Durability] = [.full, .process]
  let timing = Timing.inside
  let rivals: Set<String>? = ycsbRivals

  func run(_ workspace: Workspace, _ count: Int) throws { try load(workspace, count) }
}

let ycsb: [any Workload] = [
  YCSBLoad(),
  YCSB(
    name: "YCSBA", summary: "read records of 1 kB, and update as many", frequent: .read,
    share: 50, other: .update),
  YCSB(
    name: "YCSBB", summary: "read records of 1 kB; 5 in 100 operations are updates",
    frequent: .read, share: 95, other: .update),
  YCSB(name: "YCSBC", summary: "read records of 1 kB", frequent: .read, share: 100, other: .read),
  YCSB(
    name: "YCSBD", summary: "read the latest records of 1 kB; 5 in 100 operations are inserts",
    frequent: .read, share: 95, other: .insert, hasLatest: true),
  YCSB(
    name: "YCSBE", summary: "read 1 to 100 records in order; 5 in 100 operations are inserts",
    frequent: .scan, share: 95, other: .insert),
  YCSB(
    name: "YCSBF", summary: "read records of 1 kB, and read as many to change a field",
    frequent: .read, share: 50, other: .modify),
]

let ycsbRivals: Set<String> = ["sqlite-c", "lmdb-c", "rocksdb-c"]

/// Opens what was loaded once more, as some engines put things in order then.
func loadAndReopen(_ workspace: Workspace, _ count: Int) throws {
  try load(workspace, count)
  try workspace.withTable { _ in }
}

func load(_ workspace: Workspace, _ count: Int) throws {
  try workspace.withTable { table in
    for start in stride(from: 0, to: count, by: 1000) {
      try table.store.write { batch in
        for number in UInt64(start)..<UInt64(min(start + 1000, count)) {
          try batch.put(YCSBRecord.make(number), for: YCSBRecord.key(number), in: table)
        }
      }
    }
  }
}
