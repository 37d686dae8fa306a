import Foundation
import ProgramTesting
import StoredObjectsDocuments
import TestedBackends
import Testing

@Suite("Documents on freedesktop systems")
struct DesktopTests {
  @Test("The files are valid for names of any kind")
  func files() async throws {
    try await Desk.with { desk in
      var type = desk.type
      (type.name, type.iconName) = ("Sketch & <Co>", "org.example.Sketch")
      let files = DesktopFiles(for: type, program: "/opt/my app/100% \"sketch\"")
      try XMLParsing.check(files.mimeInfo)
      #expect(files.mimeInfo.contains("<comment>Sketch &amp; &lt;Co&gt;</comment>"))
      #expect(files.desktopEntry.contains("\nMimeType=application/x-example-sketch;\n"))
      #expect(files.desktopEntry.contains("\nExec=\"/opt/my app/100%% \\\\\"sketch\\\\\"\" %F\n"))
      #expect(files.thumbnailer.contains(" --thumbnail %i %o %s\n"))
      let paths = try files.install(in: desk.path("share"))
      #expect(
        paths.map { String($0.dropFirst(desk.path("share").count)) } == [
          "/mime/packages/org.example.Sketch.xml", "/applications/org.example.Sketch.desktop",
          "/thumbnailers/org.example.Sketch.thumbnailer",
        ])
      #expect(try files.install(in: desk.path("share")) == paths)
      #expect(
        DesktopFiles(for: type, program: "sketch").desktopEntry.contains("\nExec=sketch %F\n"))
    }
  }

  @Test("The system accepts the MIME type, and knows archives by their content")
  func mimeDatabase() async throws {
    guard let update = InstalledProgram("update-mime-database") else { return }
    try await Desk.with { desk in
      try DesktopFiles(for: desk.type, program: "sketch").install(in: desk.path("share"))
      let run = try update.run([desk.path("share/mime")])
      #expect(run.status == 0, "\(run.output)")
      let globs = try String(contentsOfFile: desk.path("share/mime/globs2"), encoding: .utf8)
      #expect(globs.contains(":application/x-example-sketch:*.sketch"))
      let magic = try Data(contentsOf: URL(filePath: desk.path("share/mime/magic")))
      #expect(magic.range(of: Data("[60:application/x-example-sketch]".utf8)) != nil)
    }
  }

  @Test("A document is shown under the icon of its type where folders can have one")
  func folderIcon() async throws {
    try await Desk.with { desk in
      var type = desk.type
      type.iconName = "org.example.Sketch"
      let document = try StoredDocument(creating: desk.path("Ship.sketch"), as: type)
      try await document.save(as: desk.path("Boat.sketch"))
      try await document.close()
      for name in ["Ship.sketch", "Boat.sketch"] {
        #expect(
          try String(decoding: bytes(desk.path(name) + "/.directory"), as: UTF8.self)
            == "[Desktop Entry]\nIcon=org.example.Sketch\n")
      }
    }
  }
}
