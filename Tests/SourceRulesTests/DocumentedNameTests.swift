import Foundation
import Testing

@Suite("The names of code in pages")
struct DocumentedNameTests {
  /// Names of other libraries and of systemd that pages quote.
  private static let foreign: Set<Substring> = [
    "BNRStoreDocument", "LimitCORE", "LoadCredential", "MyLocation", "ProtectSystem",
    "StateDirectory", "SyncRep", "TimeoutStopSec",
  ]

  private static func files(_ suffixes: Set<String>) -> [URL] {
    ["Sources", "Examples", "SpeedTests", "Tests"].flatMap { folder in
      let files = FileManager.default.enumerator(
        at: Repository.root.appending(path: folder), includingPropertiesForKeys: nil,
        options: .skipsHiddenFiles)
      return (files?.allObjects as? [URL] ?? []).filter { suffixes.contains($0.pathExtension) }
    }
  }

  private static func text(_ file: URL) -> String {
    (try? String(contentsOf: file, encoding: .utf8)) ?? ""
  }

  private static func words(_ text: some StringProtocol) -> [String.SubSequence] {
    String(text).split { !$0.isLetter && !$0.isNumber && $0 != "_" }
  }

  /// Returns the words in inline code that have an upper-case letter after a lower-case one.
  private static func quotedNames(_ page: String) -> [Substring] {
    let parts = page.split(separator: "```", omittingEmptySubsequences: false)
    return parts.indices.filter { $0.isMultiple(of: 2) }.flatMap { index in
      parts[index].matches(of: /`([^`\n]+)`/).flatMap { words($0.output.1) }
    }.filter { $0.contains(/[a-z][A-Z]/) }
  }

  @Test("Each name that a page quotes is in a source")
  func present() throws {
    let sources = Self.files(["swift", "h", "c", "js", "html", "json", "yaml", "sql"])
    let known = Set(sources.flatMap { Self.words(Self.text($0)) })
      .union(Self.words(Self.text(Repository.root.appending(path: "Package.swift"))))
    #expect(known.contains("StoreBackend"))
    // The first column of pages for users of other libraries has their names, and the changelog has
    // names of earlier versions.
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"].map {
      Repository.root.appending(path: $0)
    }
    let pages = (Self.files(["md"]) + top).filter {
      !$0.lastPathComponent.hasPrefix("ComingFrom")
    }
    #expect(pages.count > 60)
    for page in pages {
      let unknown = Self.quotedNames(Self.text(page)).filter {
        !known.contains($0) && !Self.foreign.contains($0)
      }
      #expect(unknown == [], "\(page.lastPathComponent)")
    }
  }
}
