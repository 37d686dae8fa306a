import ArgumentParser
import Foundation
import Hummingbird
import JukeboxService
import Logging
import StoredObjects

/// Serves songs and playlists over HTTP until SIGTERM or SIGINT.
@main struct JukeboxServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "jukebox-server", abstract: "Serves songs and playlists over HTTP.")

  @Argument(help: "The directory of the store, which is created if it does not exist.")
  var directory: String

  @Option(help: "The port to listen on; 0 for any free port.")
  var port = 8080

  @Option(help: "The host name to listen on.")
  var host = "127.0.0.1"

  func run() async throws {
    var logger = Logger(label: "jukebox-server")
    logger.logLevel = .notice
    let service = try await JukeboxService(
      backend: TokyoCabinetBackend(directory: directory), logger: logger)
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
