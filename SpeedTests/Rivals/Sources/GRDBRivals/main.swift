// One step of one run, as the speed tests ask for it:
// grdb-rivals one --workload W --engine E --count N --directory D --durability L --step prepare|run
import Foundation

/// Returns the value that follows a name on the command line.
private func option(_ name: String) throws -> String {
  let words = CommandLine.arguments
  guard let index = words.firstIndex(of: name), index + 1 < words.count else {
    throw WrongResult(description: "\(name) is missing")
  }
  return words[index + 1]
}

private func peakMiB() -> Double {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
  return (kibibytes.flatMap { Double($0) } ?? 0) / 1024
}

extension Workspace {
  fileprivate func prepare(_ workload: String) throws {
    switch workload {
    case "SimpleFetch", "SimpleScan", "SimpleUpdate", "OpenClose", "LargeStoreSave":
      try insertSongs(count)
    case "RandomFetch": try insertSongs(count * 10)
    case "ComplexFetch": try insertPlaylists(of: 100)
    case "ListEdit": try insertPlaylists(of: count)
    case "NamedBufferFetch": try insertBuffers()
    case "KeyValueGet": try putItems()
    case "IndexedLookup": try insertIndexedSongs(count * 10)
    case "RangeFetch", "SortedPage", "CountRange": try insertIndexedSongs(count * 1_000)
    case "FullTextBuild": try insertVariedSongs()
    case "FullTextSearch", "FullTextBest":
      try insertVariedSongs()
      try buildText()
    case "FullTextWords":
      try insertVariedSongs()
      try buildText(.words)
    default: break
    }
  }

  fileprivate func run(_ workload: String) throws {
    switch workload {
    case "SimpleInsert": try insertSongs(count)
    case "SimpleFetch": try simpleFetch()
    case "SimpleScan": try simpleScan()
    case "ComplexInsert": try insertPlaylists(of: 100)
    case "ComplexFetch": try complexFetch()
    case "SimpleUpdate": try simpleUpdate()
    case "RandomFetch": try randomFetch()
    case "SmallSaves": try smallSaves()
    case "LargeStoreSave": try largeStoreSave()
    case "ListEdit": try listEdit()
    case "OpenClose": try openClose()
    case "Growth": try growth()
    case "NamedBufferInsert": try insertBuffers()
    case "NamedBufferFetch": try fetchBuffers()
    case "KeyValuePut": try putItems()
    case "KeyValueGet": try getItems()
    case "KeyValueSinglePuts": try putSingleItems()
    case "KeyValueThreadPuts": try putItemsFromThreads()
    case "IndexedInsert": try insertIndexedSongs(count)
    case "IndexedLookup": try indexedLookup()
    case "RangeFetch": try rangeFetch()
    case "SortedPage": try sortedPage()
    case "CountRange": try countRange()
    case "FullTextBuild": try buildText()
    case "FullTextSearch": try searchText(.all)
    case "FullTextBest": try searchText(.best)
    case "FullTextWords": try searchText(.words)
    default: throw WrongResult(description: "There is no workload \(workload)")
    }
  }
}

/// Runs one step, and returns its workspace.
///
/// The workspace must live until the process ends, and so must the objects in it.
private func start(_ engine: some Engine) throws -> Any {
  let workspace = try Workspace(
    engine, directory: try option("--directory"), durability: try option("--durability"),
    count: Int(try option("--count")) ?? 0)
  let workload = try option("--workload")
  if try option("--step") == "prepare" {
    try workspace.prepare(workload)
    return workspace
  }
  let (seconds, attoseconds) = try ContinuousClock().measure {
    try workspace.run(workload)
  }.components
  let milliseconds = Double(seconds) * 1e3 + Double(attoseconds) / 1e15
  print("{\"milliseconds\": \(milliseconds), \"peakMiB\": \(peakMiB())}")
  return workspace
}

let engines: [String: any Engine] = ["grdb": Documented(), "grdb-optimised": Optimised()]

do {
  let name = try option("--engine")
  guard let engine = engines[name] else {
    throw WrongResult(description: "There is no engine \(name)")
  }
  // The fetched objects are kept until the end.
  withExtendedLifetime(try start(engine)) { exit(0) }
} catch {
  FileHandle.standardError.write(Data("grdb-rivals: \(error)\n".utf8))
  exit(1)
}
