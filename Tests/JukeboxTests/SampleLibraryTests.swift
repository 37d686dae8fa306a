import Foundation
import ProgramTesting
import Testing

@testable import JukeboxCommands

@Suite("A whole library")
struct SampleLibraryTests {
  @Test("the sample, reads back from the store unchanged")
  func sample() throws {
    try check(SampleLibraries.sample, tracks: 332, playlists: 14)
  }

  @Test(
    "a real one, reads back from the store unchanged",
    .enabled(if: SampleLibraries.hasReal, "../shared/data/Library.xml is not here"))
  func real() throws {
    try check(SampleLibraries.real, tracks: 1169, playlists: 49)
  }

  /// Imports, exports and compares, each step in a process of its own.
  private func check(_ path: String, tracks: Int, playlists: Int) throws {
    let program = try ProgramDirectory()
    defer { program.remove() }
    let original = try PropertyListReader.read(Data(contentsOf: URL(fileURLWithPath: path)))
    #expect(original.tracks.count == tracks && original.playlists.count == playlists)
    #expect(try program.run("import", path).status == 0)
    let unchanged = "(0 new, 0 changed, \(tracks) unchanged"
    #expect(try program.run("import", path).output.contains(unchanged))
    #expect(try program.run("export", program.path("Export.xml")).status == 0)
    let exported = URL(fileURLWithPath: program.path("Export.xml"))
    #expect(try PropertyListReader.read(Data(contentsOf: exported)) == original)
    try checkListing(try program.run("playlists", "--json").json(), original)
  }

  private func checkListing(_ lists: [CommandTests.List], _ file: LibraryFile) throws {
    let titles = Dictionary(uniqueKeysWithValues: file.tracks.map { ($0.id, $0.title ?? "") })
    #expect(lists.map(\.name) == file.playlists.map { $0.name ?? "" })
    #expect(
      lists.map { $0.tracks.map(\.title) }
        == file.playlists.map { $0.items.map { titles[$0] ?? "" } }
    )
  }

  @Test("the sample's M3U playlist finds songs of the sample")
  func samplePlaylist() throws {
    let path = SampleLibraries.sample.replacing("Library.xml", with: "Rainy Sunday.m3u8")
    let library = try makeLibrary()
    defer { library.dissolve() }
    try library.importLibrary(Data(contentsOf: URL(fileURLWithPath: SampleLibraries.sample)))
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let report = try library.importPlaylist(text)
    #expect(report.songs == .init(added: 2, unchanged: 4))
    #expect(report.items == 7)
  }
}
