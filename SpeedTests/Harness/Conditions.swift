import Foundation
import StoredObjectsCore

/// The conditions of a measurement.
struct Conditions {
  let runs: Int
  let isCold: Bool
  /// The number of cores of each run; nil for all.
  let cores: Int?

  /// The conditions as a paragraph of text.
  var text: String {
    let times = runs == 1 ? "One run each" : "Median of \(runs) runs each"
    let share = cores.map { $0 == 1 ? "Each run on one core. " : "Each run on \($0) cores. " } ?? ""
    return """
      \(machine).
      \(share)Release build, Swift library linked statically. \(times), in a new process, engines taking turns, files \
      \(isCold ? "evicted from memory" : "in memory") before each run.
      """
  }

  /// The machine of the measurement.
  var machine: String {
    let gibibytes = Double(ProcessInfo.processInfo.physicalMemory) / 1_073_741_824
    return """
      \(ProcessInfo.processInfo.activeProcessorCount) cores, \
      \(String(format: "%.0f", gibibytes)) GiB memory, Linux \(release), \(fileSystem)
      """
  }

  private var release: String {
    let text = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
    let version = (text ?? "unknown").prefix { $0.isNumber || $0 == "." }
    return version.hasSuffix(".") ? String(version.dropLast()) : String(version)
  }

  /// The file system of the temporary directory: the mount with the longest path that leads to it.
  private var fileSystem: String {
    let workspace = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
    let mounts = (try? String(contentsOfFile: "/proc/mounts", encoding: .utf8)) ?? ""
    var best = (folder: "", kind: "unknown files")
    for line in mounts.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      guard words.count > 2, words[1].count > best.folder.count else { continue }
      let folder = words[1] == "/" ? "/" : words[1] + "/"
      if (workspace + "/").hasPrefix(folder) { best = (words[1], words[2]) }
    }
    return best.kind
  }
}
