import ArgumentParser

/// Kills writing processes at random moments, and checks the remaining saves.
@main
struct CrashHarness: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crash",
    abstract: "Kill writing processes, cut the power, spoil bytes, and look at what is left.",
    subcommands: [
      KillCommand.self, FlipCommand.self, PowerCommand.self,
      ProcessesCommand.self, DevicesCommand.self, ShareCommand.self, WriteCommand.self,
      OpenCommand.self, ProbeCommand.self, SessionCommand.self, SyncServerCommand.self,
      DeviceCommand.self,
    ],
    defaultSubcommand: KillCommand.self)
}
