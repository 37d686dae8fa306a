import ArgumentParser
import RecordBrowsing
import StoreAddresses
import StoredObjectsCore

struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Set properties of an object, in one save.",
    discussion: """
      Indexes are updated, and inverses follow. Indexes that the store does not explain are \
      cleared; the program builds them again. The program must share the store, or not have it \
      open. A value none sets an optional property to no value; write "none" for the text.

      Examples:
        stored-objects set Music Song/42 title="Sunny Afternoon" seconds=215
        stored-objects set Music Song/42 album=Album/7 --confirm both-sides
      """)

  @OptionGroup var store: StoreArgument
  @Argument(help: "The object, such as Song/42.") var id: String
  @Argument(help: "The properties, as NAME=VALUE.") var values: [String]
  @Option(help: "The version that the object must have, as an earlier set printed it.")
  var ifVersion: String?
  @Option(
    name: .customLong("confirm"),
    help: "An effect that you agree to: duplicate, both-sides or one-side; can be given again.")
  var confirmed: [Confirmed] = []
  @OptionGroup var output: OutputOptions

  enum Confirmed: String, CaseIterable, ExpressibleByArgument {
    case duplicate
    case bothSides = "both-sides"
    case oneSide = "one-side"

    var confirmation: EditRequest.Confirmation {
      switch self {
      case .duplicate: .duplicate
      case .bothSides: .bothSides
      case .oneSide: .oneSide
      }
    }
  }

  private struct Report: Encodable {
    var commit: UInt64?
    var changed: [String]
    var clearedIndexes: [String]
    var version: String
  }

  func validate() throws {
    guard values.allSatisfy({ $0.contains("=") }) else {
      throw ValidationError("Write each property as NAME=VALUE.")
    }
  }

  func run() throws {
    let address = try ObjectAddress(argument: id)
    let backend =
      try ServerAddress.isURL(store.directory)
      ? store.openAnyForWriting() : store.openForSharedWriting()
    defer { try? backend.close() }
    let known = try BrowsedState(backend.snapshot()).browsedClass(address.className)
    let pairs = try values.map { text in
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (name: String(parts[0]), value: try value(String(parts[1]), String(parts[0]), known))
    }
    let request = EditRequest(
      [.set(address, version: ifVersion, values: pairs)],
      confirmations: Set(confirmed.map(\.confirmation)))
    let result = try StoreEditor(backend, author: "stored-objects set").apply(request)
    let view = try BrowsedState(backend.snapshot()).object(address)
    try output.write(
      Report(
        commit: result.commit, changed: result.ids, clearedIndexes: result.clearedIndexes,
        version: view.version)
    ) { lines(result, view) }
  }

  private func value(
    _ text: String, _ name: String, _ known: BrowsedClass
  ) throws -> StoredValue {
    guard let property = known.property(name) else {
      throw BrowsingError(.notFound, "\(known.name) has no property \"\(name)\".")
    }
    if text == "none", property.type.newValue == .null { return .null }
    return try property.type.value(
      ofText: text == "\"none\"" ? "none" : text, property: name)
  }

  private func lines(_ result: EditResult, _ view: ObjectView) -> [String] {
    guard let commit = result.commit else { return ["Nothing to change in \(id)."] }
    var lines = ["Commit \(commit): \(result.ids.joined(separator: ", "))"]
    lines += result.clearedIndexes.map { "The program will build again: \($0)" }
    return lines + ["version: \(view.version)"]
  }
}
