package import StoredObjectsCore

/// A workload to measure.
///
/// Each workload has a file in this folder.
package protocol Workload: Sendable {
  /// The name on the command line.
  var name: String { get }
  /// A summary of the work in one line.
  var summary: String { get }
  /// The default sizes; several for a workload that compares sizes.
  var defaultCounts: [Int] { get }
  /// The durabilities that make a difference.
  var durabilities: [Durability] { get }
  /// The period that is timed.
  var timing: Timing { get }
  /// The rivals that support the workload; nil for all of them.
  var rivals: Set<String>? { get }
  /// The default number of operations of a run; nil if the count determines it.
  var defaultOperations: Int? { get }
  /// Returns the number of operations of a run of this size, for the time of each.
  func operations(_ count: Int) -> Int
  /// Prepares the data that ``run(_:_:)`` needs. Not timed.
  func prepare(_ workspace: Workspace, _ count: Int) throws
  /// Performs the timed work: from opening the store to closing it.
  func run(_ workspace: Workspace, _ count: Int) throws
}

extension Workload {
  package var durabilities: [Durability] { [.full] }
  package var timing: Timing { .process }
  package var rivals: Set<String>? { nil }
  package var defaultOperations: Int? { nil }
  package func operations(_ count: Int) -> Int { defaultOperations ?? count }
  package func prepare(_ workspace: Workspace, _ count: Int) throws {}
}

/// The period of a workload that is timed.
package enum Timing: String, Sendable {
  /// From the start of the new process to its end.
  case process
  /// From before the store is opened until it is closed, inside the process: for work so short that
  /// the start of a process would take most of the time.
  case inside
}

/// All workloads; a workload of the original has its original name.
package let workloads: [any Workload] = singleWorkloads + fullTextSearches + ycsb

private let singleWorkloads: [any Workload] = [
  SimpleInsert(), SimpleFetch(), SimpleScan(), ComplexInsert(), ComplexFetch(), SimpleUpdate(),
  RandomFetch(), SmallSaves(), RememberedSaves(), ReadHistory(), StreamHistory(),
  LargeStoreSave(), SustainedSaves(), SustainedPuts(), ListEdit(),
  InverseEdit(), LiveResultsEdit(), RefetchedResults(),
  DeepGraph(), OpenClose(), CrashRecovery(), KeyValueRecovery(), ManyStores(),
  NamedBufferInsert(), NamedBufferFetch(), Growth(), IndexedInsert(), IndexedLookup(),
  RangeFetch(), SortedPage(), DeepPage(), CountRange(), GroupedSums(), KeyValuePut(), KeyValueGet(),
  KeyValueSinglePuts(), KeyValueThreadPuts(), KeyValueTaskPuts(), FullTextBuild(),
  FullTextDocuments(), LargeValueInsert(), LargeValueFetch(),
]

/// An error of a workload that did not do its work.
package struct WrongResult: Error, CustomStringConvertible {
  package let description: String
}

/// Verifies that the work was done.
package func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
  if !condition { throw WrongResult(description: what()) }
}

/// Returns the title that the original's tests gave a song.
func title(_ index: Int) -> String { "Song \(index)" }
