import Foundation
import StoredObjects
import Testing

@testable import JukeboxCommands

@Suite("A whole library as JSON")
struct JSONLibraryTests {
  private static let modes: [JSONImportMode] = [.keepIDs, .replace]

  @Test("The sample reads back from an export unchanged", arguments: modes)
  func sample(mode: JSONImportMode) throws {
    try check(SampleLibraries.sample, songs: 332, playlists: 14, mode)
  }

  @Test(
    "A real library reads back from an export unchanged",
    .enabled(if: SampleLibraries.hasReal, "../shared/data/Library.xml is not here"),
    arguments: modes)
  func real(mode: JSONImportMode) throws {
    try check(SampleLibraries.real, songs: 1169, playlists: 49, mode)
  }

  private func check(
    _ path: String, songs: Int, playlists: Int, _ mode: JSONImportMode
  ) throws {
    let library = try makeLibrary()
    defer { library.dissolve() }
    try library.importLibrary(Data(contentsOf: URL(fileURLWithPath: path)))
    let file = FileManager.default.temporaryDirectory.path + "/\(UUID()).jsonl"
    defer { try? FileManager.default.removeItem(atPath: file) }
    #expect(try library.store.exportJSON(to: file) == songs + playlists)

    let copy = try makeLibrary()
    defer { copy.dissolve() }
    for _ in 0..<(mode == .replace ? 2 : 1) {
      #expect(try copy.store.importJSON(from: file, mode: mode) == songs + playlists)
    }
    #expect(try copy.store.check().findings.isEmpty)
    #expect(try copy.store.count(of: Song.self) == songs)
    #expect(try values(of: copy) == values(of: library))
  }

  /// All objects; the playlists of a song are in no order.
  private func values(of library: Library) throws -> Set<ObjectValue> {
    let objects: [StoredObject] =
      try library.songs() + library.store.allObjects(of: Playlist.self)
    return Set(
      try objects.map { object in
        var value = try object.value()
        if case .array(let playlists)? = value["playlists"] {
          value["playlists"] = .array(.init(playlists.sorted { "\($0)" < "\($1)" }))
        }
        return value
      })
  }
}
