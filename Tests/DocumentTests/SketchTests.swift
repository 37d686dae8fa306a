import Foundation
import ProgramTesting
import Testing

@Suite("The example Sketch")
struct SketchTests {
  @Test("Documents are made, edited, reverted, saved under other names, exported and imported")
  func commands() throws {
    try ProgramDirectory.run { folder in
      func sketch(_ arguments: String...) throws -> String {
        let run = try folder.run("sketch", arguments)
        #expect(run.status == 0, "\(arguments) \(run.errors)")
        return run.output
      }
      _ = try sketch("new", "Ship.sketch")
      _ = try sketch("add", "Ship.sketch", "hull", "128", "160", "60")
      _ = try sketch("add", "Ship.sketch", "sun", "200", "60", "20")
      #expect(try sketch("list", "Ship.sketch") == "hull 128 160 60\nsun 200 60 20\n")
      #expect(try sketch("versions", "Ship.sketch").split(separator: "\n").count == 3)
      #expect(try sketch("list", "Ship.sketch", "2") == "hull 128 160 60\n")
      _ = try sketch("export", "Ship.sketch", "Ship.zip")
      _ = try sketch("revert", "Ship.sketch", "2")
      _ = try sketch("save-as", "Ship.sketch", "Boat.sketch")
      _ = try sketch("import", "Ship.zip", "Copy.sketch")
      #expect(try sketch("list", "Ship.sketch") == "hull 128 160 60\n")
      #expect(try sketch("list", "Boat.sketch") == "hull 128 160 60\n")
      #expect(try sketch("list", "Copy.sketch") == "hull 128 160 60\nsun 200 60 20\n")
      let svg = folder.path("Copy.sketch/Preview/preview.svg")
      #expect(try String(contentsOfFile: svg, encoding: .utf8).contains("cx=\"200\""))
      #expect(try sketch("install", "sketch", "share").split(separator: "\n").count == 3)
      _ = try sketch("--thumbnail", "Ship.sketch", "a.png", "256")
      _ = try DecodedPNG([UInt8](Data(contentsOf: URL(filePath: folder.path("a.png")))))
      #expect(try folder.run("sketch", ["--thumbnail", "None.sketch", "a.png"]).status == 1)
      #expect(try folder.run("sketch", ["list", "Nothing.sketch"]).status == 1)
      #expect(try folder.run("sketch", ["draw"]).status == 64)
    }
  }
}
