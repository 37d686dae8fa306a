/// One thing to measure.
///
/// Each is a file in Workloads/.
protocol Workload: Sendable {
  var name: String { get }
  /// What it does, in a line.
  var summary: String { get }
  var defaultCount: Int { get }
  /// Makes what ``run(_:_:)`` needs. Not timed.
  func prepare(_ place: Place, _ count: Int) throws
  /// What is timed: from opening the store to closing it.
  func run(_ place: Place, _ count: Int) throws
}

extension Workload {
  func prepare(_ place: Place, _ count: Int) throws {}
}

/// All workloads; the names are those of the original's programs.
let workloads: [any Workload] = [
  SimpleInsert(), SimpleFetch(), SimpleScan(), ComplexInsert(), ComplexFetch(), SimpleUpdate(),
  RandomFetch(), SmallSaves(), NamedBufferInsert(), NamedBufferFetch(),
]

/// A workload did not do what it is timed for.
struct WrongResult: Error, CustomStringConvertible {
  let description: String
}

/// Makes sure that the work was done.
func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
  if !condition { throw WrongResult(description: what()) }
}

/// The titles that the original's tests gave their songs.
func title(_ index: Int) -> String { "Song \(index)" }
