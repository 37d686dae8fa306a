import ArgumentParser
import Foundation
import Hummingbird
import JukeboxService
import Logging
import StoredObjects
import StoredObjectsSync

/// Serves songs and playlists over HTTP until SIGTERM or SIGINT.
@main struct JukeboxServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "jukebox-server", abstract: "Serves songs and playlists over HTTP.")

  @Argument(
    help: """
      The directory of the store, or postgresql://HOST/DATABASE#STORE. It is created if it does \
      not exist.
      """)
  var store: String

  @Option(help: "The port to listen on; 0 for any free port.")
  var port = 8080

  @Option(help: "The host name to listen on.")
  var host = "127.0.0.1"

  @Option(help: "A file with the devices that may synchronize: an ID and a token on each line.")
  var devices: String?

  private func knownDevices() throws -> [String: SyncDevice] {
    guard let devices else { return [:] }
    var known: [String: SyncDevice] = [:]
    for line in try String(contentsOfFile: devices, encoding: .utf8).split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2, words[1].utf8.count >= 32 else {
        throw ValidationError("A line is an ID and a token of 32 characters or more.")
      }
      known[String(words[1])] = SyncDevice(id: String(words[0]))
    }
    return known
  }

  func run() async throws {
    var logger = Logger(label: "jukebox-server")
    logger.logLevel = .notice
    let service = try await JukeboxService(
      backend: try openBackend(store), devices: try knownDevices(), logger: logger)
    let application = Application(
      router: service.router(),
      configuration: .init(address: .hostname(host, port: port), serverName: "jukebox"),
      onServerRunning: { channel in
        print("Listening on port \(channel.localAddress?.port ?? port)")
        fflush(nil)
      },
      logger: logger)
    // Ends when all current requests are answered.
    try await application.runService()
    try await service.close()
  }
}
