import Foundation
import Testing

@Suite("The commands of the documentation")
struct DocumentedCommandTests {
  private static let root = Repository.root

  /// A command line on a page.
  struct Command: Sendable, CustomTestStringConvertible {
    let page: String
    let words: [String]
    var testDescription: String { "\(page): \(words.joined(separator: " "))" }

    /// The long options, without their values.
    var options: [String] {
      words.dropFirst().filter { $0.hasPrefix("--") && $0.count > 2 }
        .map { String($0.prefix { $0 != "=" }) }
    }
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  private static func paths(_ folder: String, _ suffix: String) -> [String] {
    let names = FileManager.default.subpaths(atPath: root.appending(path: folder).path) ?? []
    return names.filter { $0.hasSuffix(suffix) && !$0.contains(".build") }.sorted()
      .map { folder + "/" + $0 }
  }

  /// The pages, and the sources whose comments have command lines.
  private static let pages: [String] =
    [
      "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SpeedTests/README.md",
      "Sources/StoredObjectsCommands/StoredObjectsTool.swift",
    ] + paths("Sources", ".md") + paths("Examples", ".md")

  /// The commands that begin with a word: in blocks of code, and in inline code.
  private static func commands(_ program: String) -> [Command] {
    let pattern = #"(?m)(?:^|[`|$]|swift run |ssh host )\s*("# + program + #" [^`|\n#$]+)"#
    guard let lines = try? Regex(pattern) else { return [] }
    return pages.flatMap { page in
      let text = ((try? text(page)) ?? "").replacing("\\\n", with: " ")
      return text.matches(of: lines).map { match in
        Command(
          page: page,
          words: (match.output[1].substring ?? "").split(separator: " ").map(String.init)
        )
      }
    }
  }

  private static let script = (try? text("dev")) ?? ""

  /// The names in the sources of the programs that the script passes options to.
  private static let programs: Set<String> = {
    let folders = ["SpeedTests", "Tests/CrashHarness", "Tests/FormatFuzzer"]
    let all = folders.flatMap { paths($0, ".swift") }
    return all.map { names(in: (try? text($0)) ?? "") }.reduce([]) { $0.union($1) }
  }()

  /// The names in the sources of options that several commands have.
  private static let shared: Set<String> = {
    let all =
      ["StoredObjectsCommands", "YTKImportOptions", "stored-objects-import-sqlcipher"]
      .flatMap { paths("Sources/" + $0, ".swift") }
    return all.filter { !$0.hasSuffix("Command.swift") }
      .map { names(in: (try? text($0)) ?? "") }.reduce([]) { $0.union($1) }
  }()

  private static let scripts = commands(#"\./dev"#)
  private static let tools = commands("stored-objects")

  /// The names in the file of each command of the tool, by the name of the command.
  private static let sources: [String: Set<String>] = {
    let found = paths("Sources/StoredObjectsCommands", "Command.swift").flatMap { path in
      let text = (try? text(path)) ?? ""
      return text.matches(of: /commandName: "([a-z-]+)"/).map {
        (String($0.output.1), names(in: text))
      }
    }
    return Dictionary(found) { first, _ in first }
  }()

  /// The names that a source declares as properties, and those in quotation marks.
  private static func names(in source: String) -> Set<String> {
    var names: Set<String> = []
    for line in source.split(separator: "\n") {
      let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
      for index in parts.indices where !index.isMultiple(of: 2) {
        names.insert(String(parts[index]))
      }
      let words = line.split { $0 == " " || $0 == ":" || $0 == "(" }
      guard let index = words.firstIndex(of: "var"), index + 1 < words.count else { continue }
      names.insert(String(words[index + 1]))
    }
    return names
  }

  /// The names of an option in a source: its own, and that of its property.
  private static func names(of option: String) -> Set<String> {
    let name = String(option.dropFirst(2))
    let words = name.split(separator: "-").map(String.init)
    return [option, name, words.enumerated().map { $0 == 0 ? $1 : $1.capitalized }.joined()]
  }

  @Test("There are some")
  func some() {
    #expect(Self.scripts.count > 40)
    #expect(Self.tools.count > 60)
    #expect(Self.sources.count > 25)
  }

  @Test("The script has each command", arguments: scripts)
  func script(command: Command) throws {
    let usage = try #require(Self.script.split(separator: "EOF").dropFirst().first)
    let words = command.words.dropFirst().prefix { $0.allSatisfy(\.isLetter) || $0.contains("-") }
    let name = try #require(words.first)
    #expect(usage.contains("\n  \(name)") || name == "help", "\(name)")
    for option in command.options {
      let names = Self.names(of: option)
      let isKnown = !Self.programs.isDisjoint(with: names) || Self.script.contains(option)
      #expect(isKnown || option == "--filter", "\(option)")
    }
  }

  @Test("The tool has each command and each option", arguments: tools)
  func tool(command: Command) throws {
    guard let name = command.words.dropFirst().first, name.allSatisfy({ $0.isLetter || $0 == "-" })
    else { return }
    if name.hasPrefix("-") {
      #expect(["--help", "--version", "--generate-completion-script"].contains(name), "\(name)")
      return
    }
    let source = try #require(Self.sources[name], "\(name) is not a command")
    for option in command.options {
      let names = Self.names(of: option)
      #expect(!source.isDisjoint(with: names) || !Self.shared.isDisjoint(with: names), "\(option)")
    }
  }

  @Test("The README lists each command of the tool")
  func listed() throws {
    let page = try Self.text("README.md")
    for name in Self.sources.keys where name != "decrypt" {
      #expect(page.contains("stored-objects \(name) "), "\(name)")
    }
  }

  @Test("The changelog begins with the version of the sources")
  func release() throws {
    let source = try Self.text("Sources/StoredObjectsCommands/Release.swift")
    let version = try #require(source.firstMatch(of: /version = "(\d+\.\d+\.\d+)"/)).output.1
    let first = try #require(Self.text("CHANGELOG.md").firstMatch(of: /\n## (\S+)/)).output.1
    #expect(first == version || first == "Unreleased")
  }

  @Test("The package has each product and each trait that a page names")
  func package() throws {
    let manifest = try Self.text("Package.swift")
    for page in Self.pages where !page.hasPrefix("Examples/JukeboxServer") {
      let text = try Self.text(page)
      for match in text.matches(of: /--product ([\w-]+)/) {
        let name = String(match.output.1)
        #expect(manifest.contains("name: \"\(name)\"") || name == "jukebox-server", "\(name)")
      }
      for match in text.matches(of: /--traits (\w+)/) {
        #expect(
          manifest.contains(".trait(name: \"\(match.output.1)\"")
            || manifest.contains("name: \"\(match.output.1)\","), "\(match.output.1)")
      }
    }
  }
}
