import Foundation
import ProgramTesting
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("stored-objects: history, log and restore")
struct HistoryToolTests {
  /// Begins a history, renames an artist in one commit, and adds one in another.
  private func makeHistory(_ tool: ProgramDirectory) throws -> UInt64 {
    let state = try tool.run("history", "Library", ["--json", "--begin"])
    let start = try #require(try state.json([String: UInt64].self)["after"])
    let lines = try tool.run("export", "Library", ["--class", "Artist"]).output
    try Data(lines.replacing("{\"name\":\"", with: "{\"name\":\"The ").utf8)
      .write(to: URL(fileURLWithPath: tool.path("Renamed.jsonl")))
    for ids in ["replace", "new"] {
      let run = try tool.run("import", "Library", ["Renamed.jsonl", "--ids", ids])
      #expect(run.status == 0 && run.errors == "")
    }
    return start
  }

  @Test("log shows the changed properties of each commit, as text and as JSON")
  func log() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let start = try makeHistory(tool)
      let text = try tool.run("log", "Library").output
      #expect(text.contains("commit \(start + 1)  "))
      #expect(text.contains("  Artist/2 updated\n    name: "))
      #expect(text.contains("\" -> \"The "))
      #expect(text.contains("  Artist/3 inserted\n    name: \"The "))
      let json = try tool.run("log", "Library", ["--json", "--after", "\(start + 1)"]).output
      #expect(json.split(separator: "\n").count == 1 && json.contains(#""id":"Artist/3""#))
      #expect(try tool.run("log", "Library", ["--class", "Track"]).output == "")
      let first = try tool.run("log", "Library", ["--limit", "1"]).output
      #expect(first != "" && !first.contains("Artist/3"))
    }
  }

  @Test("history shows where it begins, removes old entries, and ends")
  func history() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let start = try makeHistory(tool)
      #expect(
        try tool.run("history", "Library").output.hasPrefix(
          "The history begins with commit \(start + 1)."))
      #expect(try tool.run("history", "Library", ["--purge", "\(start + 1)"]).status == 0)
      let expired = try tool.run("log", "Library", ["--after", "\(start)"])
      #expect(expired.status == 1 && expired.errors.contains("historyExpired"))
      #expect(try tool.run("check", "Library").status == 0)
      let ended = try tool.run("history", "Library", ["--end"])
      #expect(ended.output == "The store keeps no history.\n")
      #expect(try tool.run("log", "Library").status == 1)
      #expect(try tool.run("history", "Library", ["--begin", "--end"]).status == 64)
    }
  }

  @Test("restore copies a store as of a commit or a time, and does not change the store")
  func restore() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let before = try tool.run("export", "Library").output
      let start = try makeHistory(tool)
      let after = try tool.run("export", "Library").output
      let run = try tool.run("restore", "Library", ["Earlier", "--commit", "\(start)"])
      #expect(run.status == 0 && run.output == "The store as of commit \(start) is in Earlier.\n")
      #expect(lines(try tool.run("export", "Earlier").output) == lines(before))
      #expect(lines(try tool.run("export", "Library").output) == lines(after) && after != before)
      #expect(try tool.run("check", "Earlier").status == 0)
      let now = try tool.run("restore", "Library", ["Now", "--time", "2999-01-01T00:00:00Z"])
      #expect(now.status == 0)
      #expect(lines(try tool.run("export", "Now").output) == lines(after))
      let expired = try tool.run("restore", "Library", ["Never", "--commit", "1"])
      #expect(expired.status == 1 && expired.errors.contains("historyExpired"))
      #expect(!FileManager.default.fileExists(atPath: tool.path("Never")))
    }
  }

  @Test("diff shows the differences between two commits, and export the objects as of one")
  func earlier() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let before = try tool.run("export", "Library").output
      let start = try makeHistory(tool)
      let diff = try tool.run("diff", "Library", ["\(start)"])
      #expect(diff.output.contains("Artist/2 updated\n  name: "))
      #expect(diff.output.contains("Artist/3 inserted\n  name: \"The "))
      let first = try tool.run("diff", "Library", ["\(start)", "\(start + 1)", "--json"]).output
      #expect(first.contains(#""id":"Artist/2""#) && !first.contains("Artist/3"))
      #expect(try tool.run("diff", "Library", ["2999-01-01T00:00:00Z"]).output == "")
      let none = try tool.run("diff", "Library", ["\(start)", "--class", "Track"])
      #expect(none.status == 0 && none.output == "")
      #expect(try tool.run("diff", "Library", ["\(start + 99)"]).status == 1)
      #expect(try tool.run("diff", "Library", ["Monday"]).status == 64)

      let earlier = try tool.run("export", "Library", ["--as-of", "\(start)"])
      #expect(lines(earlier.output) == lines(before))
      let values = try tool.run("dump", "Library", ["Artist", "--values", "--as-of", "\(start)"])
      #expect(values.status == 0 && !values.output.contains("The "))
      #expect(try tool.run("export", "Library", ["--as-of", "\(start - 1)"]).status == 1)
    }
  }

  @Test("history keeps entries that are young or that a consumer has not seen")
  func retention() throws {
    try ProgramDirectory.run { tool in
      try tool.makeLibrary()
      let start = try makeHistory(tool)
      let seen = try tool.run(
        "history", "Library", ["--seen-by", "search", "--seen", "\(start + 1)"])
      #expect(seen.output.hasSuffix("  search has seen commit \(start + 1).\n"))
      let young = try tool.run("history", "Library", ["--keep-days", "1"]).output
      #expect(young.hasPrefix("The history begins with commit \(start + 1)."))
      let small = try tool.run("history", "Library", ["--keep-megabytes", "0"]).output
      #expect(small.hasPrefix("The history begins with commit \(start + 2)."))
      #expect(try tool.run("history", "Library", ["--seen", "1"]).status == 64)
      #expect(try tool.run("history", "Library", ["--keep-days", "-1"]).status == 64)
    }
  }

  /// The objects of an export; its first line has the last rows, which never go back.
  private func lines(_ text: String) -> Set<Substring> {
    Set(text.split(separator: "\n").dropFirst())
  }
}
