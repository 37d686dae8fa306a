package import StoredObjectsCore

/// One thing to measure.
///
/// Each is a file in this folder.
package protocol Workload: Sendable {
  /// As on the command line.
  var name: String { get }
  /// What it does, in a line.
  var summary: String { get }
  /// How large it is, if nobody says otherwise; several for a workload that compares sizes.
  var defaultCounts: [Int] { get }
  /// The durabilities that make a difference to it.
  var durabilities: [Durability] { get }
  /// Between which moments it is timed.
  var timing: Timing { get }
  /// The rivals that can do it; nil for all of them.
  var rivals: Set<String>? { get }
  /// How many operations a run does, if nobody says otherwise; nil when the count says how many.
  var defaultOperations: Int? { get }
  /// How many operations a run of this size is, for the time that each takes.
  func operations(_ count: Int) -> Int
  /// Makes what ``run(_:_:)`` needs. Not timed.
  func prepare(_ workspace: Workspace, _ count: Int) throws
  /// What is timed: from opening the store to closing it.
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

/// Between which moments a workload is timed.
package enum Timing: String, Sendable {
  /// From the start of the new process to its end.
  case process
  /// From before the store is opened to when it is closed, inside the process: where the work is so
  /// short that the start of a process would be most of it.
  case inside
}

/// All workloads; where the original has one, its name is the original's.
package let workloads: [any Workload] = singleWorkloads + fullTextSearches + ycsb

private let singleWorkloads: [any Workload] = [
  SimpleInsert(), SimpleFetch(), SimpleScan(), ComplexInsert(), ComplexFetch(), SimpleUpdate(),
  RandomFetch(), SmallSaves(), RememberedSaves(), ReadHistory(), StreamHistory(),
  LargeStoreSave(), SustainedSaves(), ListEdit(),
  InverseEdit(), LiveResultsEdit(), RefetchedResults(),
  DeepGraph(), OpenClose(), CrashRecovery(), ManyStores(), NamedBufferInsert(), NamedBufferFetch(),
  Growth(), IndexedInsert(), IndexedLookup(),
  RangeFetch(), SortedPage(), DeepPage(), CountRange(), KeyValuePut(), KeyValueGet(),
  KeyValueSinglePuts(), KeyValueThreadPuts(), KeyValueTaskPuts(), FullTextBuild(),
  FullTextDocuments(), LargeValueInsert(), LargeValueFetch(),
]

/// A workload did not do what it is timed for.
package struct WrongResult: Error, CustomStringConvertible {
  package let description: String
}

/// Makes sure that the work was done.
package func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
  if !condition { throw WrongResult(description: what()) }
}

/// The titles that the original's tests gave their songs.
func title(_ index: Int) -> String { "Song \(index)" }
