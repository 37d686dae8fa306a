import ArgumentParser

/// Placeholder.
struct FlipCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "flip")
  func run() throws {}
}

struct ProbeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "probe", shouldDisplay: false)
  func run() throws {}
}
