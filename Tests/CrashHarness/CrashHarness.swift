import ArgumentParser

/// Kills writing processes at random moments, and checks the remaining saves.
@main
struct CrashHarness: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crash",
    abstract: "Kill writing processes, cut the power, spoil bytes, and look at what is left.",
    subcommands: [
      KillCommand.self, FlipCommand.self, PowerCommand.self,
      ProcessesCommand.self, ShareCommand.self, WriteCommand.self, OpenCommand.self,
      ProbeCommand.self, SessionCommand.self,
    ],
    defaultSubcommand: KillCommand.self)
}
