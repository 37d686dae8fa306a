import ArgumentParser

struct CreateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Create an empty playlist at the end of the library.")

  @Argument(help: "The name of the new playlist.")
  var name: String

  @OptionGroup var options: StoreOptions

  func run() throws {
    guard !name.isEmpty else { throw Failure("The name of a playlist must not be empty.") }
    let number = try options.edit("create \(quoted(name))", .making(songCount: 0)) { library in
      if let other = try library.playlists().first(where: { $0.name == name }) {
        throw Failure("There is already a playlist \(quoted(name)), #\(other.number).")
      }
      return try library.makePlaylist(name, .created).number
    }
    try Output.print("Created the playlist \(quoted(name)), #\(number).")
  }
}
