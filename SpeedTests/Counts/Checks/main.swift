// Compares the allocations and disk accesses of operations with limits: counts, which are the same
// on every machine, and not times. `./dev bench --check` runs it.
import Foundation

/// Runs a closure with a directory that is removed afterwards.
func withDirectory<Value>(_ body: (String) throws -> Value) throws -> Value {
  let directory = FileManager.default.temporaryDirectory
    .appending(path: "speedtests-counts-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: directory) }
  return try body(directory.path(percentEncoded: false))
}

func padded(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}

/// Prints the counts with their limits.
///
/// - Returns: The number of counts that exceed their limit.
func report(_ limit: Limit, _ counts: Counts) -> Int {
  var excesses = 0
  for kind in Counts.kinds {
    let (count, most) = (counts[keyPath: kind.of], limit.most[keyPath: kind.of])
    if count > most { excesses += 1 }
    print(
      limit.operation.padding(toLength: 28, withPad: " ", startingAt: 0)
        + kind.name.padding(toLength: 12, withPad: " ", startingAt: 0)
        + padded("\(count)", 10) + padded("\(most)", 12) + (count > most ? "  TOO MANY" : ""))
  }
  return excesses
}

print("operation                   what              count     at most")
let excesses = try limits.map { limit in
  let counts = try withDirectory { try limit.measure(Operations(directory: $0)) }
  return report(limit, counts)
}.reduce(0, +)
if excesses > 0 {
  print("\(excesses) counts are beyond their limits.")
  exit(1)
}
let faults = try OptimizedBuild.faults()
if !faults.isEmpty {
  for fault in faults { print(fault) }
  exit(1)
}
