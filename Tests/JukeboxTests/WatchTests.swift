import Foundation
import ProgramTesting
import Testing

@testable import JukeboxCommands

@Suite("Watching an import")
struct WatchTests {
  @Test("lists the songs while they arrive, and ends with the same library as an import")
  func watch() throws {
    let program = try ProgramDirectory()
    defer { program.remove() }
    let run = try program.run("watch", SampleLibraries.sample, "--batch", "100")
    #expect(run.status == 0 && run.errors == "")
    let lines = run.output.split(separator: "\n")
    #expect(lines.last?.hasPrefix("Imported 332 songs (332 new") == true)
    // A commit that comes quickly behind another may be shown together with it.
    let counts = lines.dropLast().compactMap { line in
      line.split(separator: " ").first.flatMap { Int($0) }
    }
    #expect(counts.last == 332 && counts == counts.sorted() && Set(counts).count == counts.count)
    #expect(counts.allSatisfy { $0 == 332 || $0 % 100 == 0 })

    #expect(try program.run("export", program.path("Export.xml")).status == 0)
    func library(_ path: String) throws -> LibraryFile {
      try PropertyListReader.read(Data(contentsOf: URL(fileURLWithPath: path)))
    }
    #expect(try library(program.path("Export.xml")) == library(SampleLibraries.sample))
  }

  @Test("of an existing store shows new songs, and keeps the rest")
  func again() throws {
    let program = try ProgramDirectory()
    defer { program.remove() }
    #expect(try program.run("import", SampleLibraries.sample).status == 0)
    let run = try program.run("watch", SampleLibraries.sample)
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("Imported 332 songs (0 new, 0 changed, 332 unchanged)"))
  }

  @Test("refuses a playlist, a missing file and invalid counts")
  func refusals() throws {
    let program = try ProgramDirectory()
    defer { program.remove() }
    let playlist = SampleLibraries.sample.replacing("Library.xml", with: "Rainy Sunday.m3u8")
    #expect(try program.run("watch", playlist).errors.contains("Import it with"))
    #expect(try program.run("watch", program.path("None.xml")).errors.contains("does not exist"))
    for option in ["--rows", "--batch"] {
      #expect(try program.run("watch", SampleLibraries.sample, option, "0").status != 0)
    }
    #expect(!FileManager.default.fileExists(atPath: program.path("Music")))
  }
}
