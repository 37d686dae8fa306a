import KeyValueStoreCore
import StoredObjectsCore
import WorkloadData

/// Makes many commits of random records to a large key-value table, each of which is measured.
///
/// The count is the number of records in the table. The latency of a commit does not include making
/// the records.
struct SustainedPuts: Workload {
  let name = "SustainedPuts"
  let summary = "put 100 records of 1 kB in random order in one commit; 3,000 times"
  let defaultCounts = [1_000_000]
  let durabilities: [Durability] = [.full, .process]
  let defaultOperations: Int? = 3_000
  let timing = Timing.inside
  let rivals: Set<String>? = ycsbRivals

  func prepare(_ workspace: Workspace, _ count: Int) throws { try loadAndReopen(workspace, count) }

  func run(_ workspace: Workspace, _ count: Int) throws {
    try workspace.withTable { table in
      var numbers = Shuffled()
      for version in 1...UInt64(workspace.operations) {
        let records = (0..<100).map { _ in
          let number = UInt64(numbers.next(below: count))
          return (number, YCSBRecord.make(number, version: version))
        }
        try workspace.latencies.measure {
          try table.store.write { batch in
            for (number, record) in records {
              try batch.put(record, for: YCSBRecord.key(number), in: table)
            }
          }
        }
      }
    }
  }
}
