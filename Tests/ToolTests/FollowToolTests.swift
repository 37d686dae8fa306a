import Foundation
import ProgramTesting
import StoredObjectsCore
import StoredObjectsTestSupport
import Testing
import TokyoCabinetBackend

@Suite("stored-objects: follow, stream, apply, promote, and continuous backups")
struct FollowToolTests {
  private func makeRememberedStore(_ tool: ProgramDirectory) throws {
    try tool.makeStore()
    try #require(try tool.run("history", "Music", ["--begin"]).status == 0)
    try save(tool, ["c"])
  }

  private func save(_ tool: ProgramDirectory, _ titles: [String]) throws {
    let backend = try TokyoCabinetBackend(directory: tool.path("Music"))
    let store = Store(backend: backend)
    try store.register(Song.self, Album.self)
    for title in titles {
      store.insert(Song(title))
      try store.saveChanges()
    }
    try backend.close()
  }

  @Test("follow creates a copy and updates it, and promote makes it a store of its own")
  func follow() throws {
    try ProgramDirectory.run { tool in
      try tool.makeStore()
      let early = try tool.run("follow", "Music", ["Copy", "--once"])
      #expect(early.status == 1 && early.errors.contains("historyExpired"))
      #expect(!FileManager.default.fileExists(atPath: tool.path("Copy")))
      try #require(try tool.run("history", "Music", ["--begin"]).status == 0)
      for titles in [["c"], ["d", "e"], []] {
        try save(tool, titles)
        let run = try tool.run("follow", "Music", ["Copy", "--once"])
        #expect(run.status == 0 && run.output.hasPrefix("The copy in Copy has all commits up to "))
        #expect(run.errors == "")
        let (original, copy) = (
          try tool.run("export", "Music").output, try tool.run("export", "Copy").output
        )
        #expect(original == copy)
      }
      #expect(try tool.run("check", "Copy").status == 0)
      let refused = try tool.run("history", "Copy", ["--end"])
      #expect(refused.status == 1 && refused.errors.contains("promote"))
      let other = try tool.run("follow", "Music", ["Music", "--once"])
      #expect(other.status == 1 && other.errors.contains("store of its own"))
      #expect(try tool.run("promote", "Copy").output == "Copy is a store of its own now.\n")
      #expect(try tool.run("promote", "Copy").status == 1)
      #expect(try tool.titles(in: "Copy") == ["Für Elise", "b", "c", "d", "e"])
    }
  }

  @Test("stream and apply create a copy through a pipe, and continue after its last commit")
  func stream() throws {
    try ProgramDirectory.run { tool in
      try makeRememberedStore(tool)
      #expect(try tool.shell("so apply Copy --position").output == "0\n")
      let first = try tool.shell("so stream Music | so apply Copy --backend cdb")
      #expect(first.status == 0 && first.errors == "")
      try save(tool, ["d", "e"])
      let next = try tool.shell(
        "so stream Music --after $(so apply Copy --position) | so apply Copy --json")
      #expect(next.status == 0 && next.errors == "")
      #expect(try tool.run("export", "Music").output == tool.run("export", "Copy").output)
      let again = try tool.shell("so stream Music > all; cat all all | so apply Copy")
      #expect(again.status == 0 && again.errors == "")
      try save(tool, ["f"])
      let beyond = try tool.shell("so stream Music | so apply Copy")
      #expect(beyond.status == 1 && beyond.errors.contains("historyExpired"))
      let late = try tool.run("stream", "Music", ["--after", "999"])
      #expect(late.status == 1 && late.errors.contains("otherHistory"))
    }
  }

  @Test("apply accepts a stream cut at any byte, and the next stream completes the copy")
  func cuts() throws {
    try ProgramDirectory.run { tool in
      try makeRememberedStore(tool)
      try #require(try tool.shell("so stream Music | so apply Whole").status == 0)
      let number = try tool.run("apply", "Whole", ["--position"]).output.dropLast()
      try save(tool, ["d", "e", "f"])
      let run = try tool.run("history", "Music", ["--json"])
      let last = try #require(try run.json([String: UInt64].self)["lastCommit"])
      try #require(try tool.shell("so stream Music --after \(number) > rest").status == 0)
      let size = try Data(contentsOf: URL(filePath: tool.path("rest"))).count
      // A sample; each cut takes three runs of the tool.
      var generator = Seeds.generator(for: "streams that are cut off")
      let distance = max(1, size / 10)
      let start = Int.random(in: 0..<distance, using: &generator)
      for cut in stride(from: start, to: size, by: distance) {
        let line = "rm -rf Cut; cp -r Whole Cut; head -c \(cut) rest | so apply Cut"
        let first = try tool.shell(line)
        #expect(first.status == 1 && first.errors.contains("cut off"), "\(cut): \(first.errors)")
        let found = try #require(
          try UInt64(tool.run("apply", "Cut", ["--position"]).output.dropLast()))
        #expect(((UInt64(number) ?? 0)...last).contains(found))
        let second = try tool.shell("so apply Cut < rest")
        #expect(second.status == 0, "\(cut): \(second.errors)")
      }
      #expect(try tool.run("export", "Music").output == tool.run("export", "Cut").output)
      let noise = try tool.shell("head -c 500 /dev/urandom | so apply Cut")
      #expect(noise.status == 1 && noise.errors.contains("damaged"))
    }
  }

  @Test("follow applies commits while it runs, reports the lag, and ends cleanly at SIGTERM")
  func running() throws {
    try ProgramDirectory.run { tool in
      try makeRememberedStore(tool)
      let process = Process()
      process.executableURL = try ProgramDirectory.executable("stored-objects")
      process.arguments = ["follow", "Music", "Copy"]
      process.currentDirectoryURL = tool.folder
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let backend = try TokyoCabinetBackend(directory: tool.path("Music"))
      let store = Store(backend: backend)
      try store.register(Song.self, Album.self)
      var lags: [Duration] = []
      for number in 0..<20 {
        store.insert(Song("\(number)"))
        try store.saveChanges()
        let start = ContinuousClock.now
        while try copiedNumber(tool) != backend.lastCommitNumber {
          guard start.duration(to: .now) < .seconds(20) else { break }
          usleep(1000)
        }
        lags.append(start.duration(to: .now))
      }
      try backend.close()
      process.terminate()
      let text = String(
        decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationReason == .exit && process.terminationStatus == 0)
      #expect(text.contains(" ms behind\n") && text.contains("has all commits up to"))
      lags.sort()
      print("follow lags \(lags[10]) in the median, \(lags[19]) at most, look-ups included")
      #expect(lags[10] < .milliseconds(200))
      #expect(try tool.run("export", "Music").output == tool.run("export", "Copy").output)
    }
  }

  private func copiedNumber(_ tool: ProgramDirectory) throws -> UInt64 {
    var configuration = TokyoCabinetBackend.Configuration(access: .readOnly)
    configuration.lockTimeout = .seconds(2)
    guard
      let copy = try? TokyoCabinetBackend(
        directory: tool.path("Copy"), configuration: configuration)
    else { return 0 }
    defer { try? copy.close() }
    return copy.lastCommitNumber
  }

  @Test("backup --continuous adds a segment per run and passes it to a command; restore reads all")
  func continuousBackup() throws {
    try ProgramDirectory.run { tool in
      try makeRememberedStore(tool)
      let options = ["Backup", "--continuous", "--once", "--run", "echo >> handed"]
      var states: [(String, String)] = []
      for titles in [[], ["d"], ["e", "f"]] {
        try save(tool, titles)
        let run = try tool.run("backup", "Music", options)
        #expect(run.status == 0 && run.output.hasPrefix("The backup in Backup has all commits"))
        #expect(run.errors == "")
        let last = try #require(run.output.split(separator: " ").last).dropLast(2)
        states.append((String(last), try tool.run("export", "Music").output))
      }
      #expect(try tool.contents("Backup/segments").count == 2)
      #expect(
        try String(contentsOfFile: tool.path("handed"), encoding: .utf8)
          .split(separator: "\n").count == 4)
      for (index, (number, export)) in states.enumerated() {
        let target = "Restored \(index)"
        let run = try tool.run("restore", "Backup", [target, "--commit", number])
        #expect(run.status == 0 && run.errors == "")
        #expect(try tool.run("export", target).output == export)
        #expect(try tool.run("check", target).status == 0)
      }
      #expect(try tool.run("restore", "Backup", ["Newest"]).status == 0)
      #expect(try tool.run("export", "Newest").output == states[2].1)
      #expect(try tool.titles(in: "Newest").count == 6)
      #expect(try tool.run("restore", "Backup", ["Never", "--commit", "999"]).status == 1)
      #expect(!FileManager.default.fileExists(atPath: tool.path("Never")))
      #expect(try tool.run("restore", "Music", ["Never"]).status == 64)
    }
  }
}
