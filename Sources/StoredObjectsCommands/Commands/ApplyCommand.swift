import ArgumentParser
import Foundation
import StoredObjectsCore

struct ApplyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apply",
    abstract: "Read a stream from standard input and apply its commits to a copy.",
    discussion: """
      If the copy does not exist, it is created from the copy at the beginning of the stream. A \
      commit that arrives again is skipped. If the stream is cut off, the exit code is 1, and the \
      copy has all commits that arrived complete. Continue with stream --after.
      """)

  @OptionGroup var copy: FollowerArgument
  @Flag(help: "Print the number of the last commit in the copy, and read no stream.")
  var position = false
  @OptionGroup(title: "Encrypted stores") var key: KeyOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let key = try key.key()
    if position { return try StandardOutput.write(["\(copy.commitNumber(key))"]) }
    let target = try copy.open(key)
    var follower = try StoreFollower(target, source: "standard input")
    do {
      while true {
        // Returns the available bytes; blocks only if there are none.
        let bytes = FileHandle.standardInput.availableData
        if bytes.isEmpty { break }
        try follower.apply([UInt8](bytes))
      }
      try follower.finish()
    } catch {
      try? target.close()
      throw error
    }
    let report = FollowerReport(
      target: copy.target, commit: try follower.position()?.number ?? 0)
    try target.close()
    try output.write(report) {
      ["The copy in \(report.target) has all commits up to \(report.commit)."]
    }
  }
}
