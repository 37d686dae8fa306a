import Foundation
import ProgramTesting
import Testing

/// Takes the pictures of the documentation; `./dev docs pictures` keeps them.
@Suite(
  "Pictures of the page", .serialized,
  .enabled(if: WebDriver.isInstalled, WebDriver.reasonToSkip))
struct PictureTests {
  /// The folder of the pictures; nil to throw them away.
  private static let folder = ProcessInfo.processInfo.environment["STOREDOBJECTS_PICTURES"]

  /// A picture of a view.
  private struct Picture {
    let name: String
    let hash: String
    var width = 1100
    var height = 760
  }

  private static let condition =
    "milliseconds > 300000 and artist != none"
    .addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""

  private static func pictures(lastCommit: UInt64) -> [Picture] {
    [
      Picture(name: "BrowseOverview", hash: "#/"),
      Picture(name: "BrowseTable", hash: "#/c/Song?where=\(condition)&sort=-milliseconds"),
      Picture(name: "BrowsePlaylist", hash: "#/o/Playlist/5"),
      Picture(name: "BrowseModel", hash: "#/model"),
      Picture(name: "BrowseDesign", hash: "#/model/edit", height: 900),
      Picture(name: "BrowseCommit", hash: "#/history/\(lastCommit - 1)"),
      Picture(name: "BrowseHistory", hash: "#/history"),
      Picture(name: "BrowseHealth", hash: "#/health"),
      Picture(name: "BrowsePhone", hash: "#/o/Playlist/5", width: 390, height: 700),
      Picture(name: "BrowseSearch", hash: "#/search?q=nocturne"),
    ]
  }

  @Test("Each view of the sample library has a picture, light and dark")
  func all() throws {
    try ProgramDirectory.run { directory in
      let lastCommit = try SampleLibrary.make("Music", in: directory)
      try TestedServer.run([directory.path("Music"), "--write"]) { server in
        try withPage(server) { page in
          for picture in Self.pictures(lastCommit: lastCommit) {
            try show(picture, page, in: directory)
            try take(picture, page, in: Self.folder ?? directory.folder.path)
          }
        }
      }
    }
  }

  /// Shows a view, without the folder of the test.
  private func show(
    _ picture: Picture, _ page: WebDriver, in directory: ProgramDirectory
  ) throws {
    try page.emulate(width: picture.width, height: picture.height, isDark: false)
    try page.show(picture.hash)
    let script = """
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        const node = walk.currentNode;
        if (node.data.includes(arguments[0])) node.data = node.data.replaceAll(arguments[0], '~');
      }
      """
    try page.run(script, [directory.folder.path])
  }

  private func take(_ picture: Picture, _ page: WebDriver, in folder: String) throws {
    for isDark in [false, true] {
      try page.emulate(width: picture.width, height: picture.height, isDark: isDark)
      let path = "\(folder)/\(picture.name)\(isDark ? "~dark" : "").png"
      try page.screenshot(path)
      let bytes = try #require(FileManager.default.contents(atPath: path))
      // A page that shows nothing is smaller.
      #expect(bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) && bytes.count > 20_000, "\(path)")
    }
  }
}
