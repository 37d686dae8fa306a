import ArgumentParser
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport

/// The options with which a child opens its store.
struct StoreOptions: ParsableArguments {
  @Argument var directory: String
  @Option var backend = BackendName.tokyoCabinet
  @Option(transform: { Durability(rawValue: $0) ?? .full }) var durability = .full
  @Option var logBytes = 4 << 20
  @Option var bulkBytes = 1 << 20
  @Option var besideBytes = 4 << 20
  @Flag var values = false

  func open(isReadOnly: Bool = false) throws -> CrashedContent {
    try CrashedContent(
      backend.open(directory, isReadOnly: isReadOnly, durability: durability, limits: limits),
      hasValues: values)
  }

  private var limits: CheckpointLimits {
    var limits = CheckpointLimits(logBytes: logBytes, filePart: 1 << 20, bulkBytes: bulkBytes)
    limits.besideBytes = besideBytes
    limits.segments = .small
    return limits
  }
}

/// Writes saves until it is killed, and sends the number of each that has returned.
struct WriteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "write", shouldDisplay: false)

  @OptionGroup var store: StoreOptions
  @Option var seed: UInt64
  @Option var first = 1
  @Option var last = Int.max

  func run() throws {
    let content = try store.open()
    ChildProcess.send(0)
    for number in first...last {
      let save = ScriptedSave(number, seed: seed)
      try content.commit(save)
      ChildProcess.send(Int64(number))
      if save.isFollowedByCheckpoint { try content.backend.checkpoint() }
    }
  }
}

/// Opens a store, which repairs the state that a killed process has left, and closes it.
struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "open", shouldDisplay: false)

  @OptionGroup var store: StoreOptions

  func run() throws {
    ChildProcess.send(0)
    try store.open().close()
  }
}
