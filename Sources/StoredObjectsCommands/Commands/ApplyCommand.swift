import ArgumentParser
import Foundation
import StoredObjectsCore

struct ApplyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apply",
    abstract: "Read a stream from the standard input, and apply its commits to a copy.",
    discussion: """
      A copy that does not exist is made of the copy that the stream begins with. Each commit is \
      applied once, also when it comes again. When the stream is cut off, the exit code is 1, and the \
      copy has all commits that came as a whole: go on with stream --after.
      """)

  @OptionGroup var copy: FollowerArgument
  @Flag(help: "Write the number of the last commit that the copy has, and read nothing.")
  var position = false
  @OptionGroup(title: "Encrypted stores") var key: KeyOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let key = try key.key()
    if position { return print(try copy.commitNumber(key)) }
    let target = try copy.open(key)
    var follower = try StoreFollower(target, source: "standard input")
    do {
      while true {
        // What there is, without waiting for more.
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
