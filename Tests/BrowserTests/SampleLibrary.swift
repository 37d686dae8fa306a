import Foundation
import ProgramTesting
import StoreEngine
import TestedBackends
import Testing

/// The music library of the Jukebox example, whose classes have properties of custom types.
enum SampleLibrary {
  /// Makes the session of the Jukebox's README, in a store with a history.
  ///
  /// - Returns: The last commit, which moves a song in a playlist.
  static func make(_ name: String, in directory: ProgramDirectory) throws -> UInt64 {
    let sample = URL(filePath: "\(#filePath)/../../../Examples/Jukebox/Sample/Library.xml")
    let begun = try TestedBackend.tokyoCabinet.open(directory.path(name))
    try begun.beginHistory()
    try begun.close()
    let commands = [
      ["import", sample.standardizedFileURL.path], ["create", "Encores"],
      ["add", "Encores", "Vltava", "#1054", "Vltava"], ["move", "Encores", "3", "1"],
    ]
    for command in commands {
      let run = try directory.run("jukebox", command + ["--store", name])
      try #require(run.status == 0, "\(run)")
    }
    let filled = try TestedBackend.tokyoCabinet.open(directory.path(name))
    defer { try? filled.close() }
    return filled.lastCommitNumber
  }
}

@Suite("Histories of classes with custom types")
struct CustomTypeHistoryTests {
  @Test("log and diff name the changed properties, also behind those of custom types")
  func changedProperties() throws {
    try ProgramDirectory.run { directory in
      let last = try SampleLibrary.make("Music", in: directory)
      func lines(_ arguments: [String]) throws -> [String] {
        let run = try directory.run("stored-objects", arguments)
        #expect(run.status == 0, "\(run)")
        return run.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      }
      let moved = try lines(["log", "Music", "--after", "\(last - 1)"])
      #expect(moved.count == 3 && moved[1] == "Playlist/16 updated", "\(moved)")
      let songs = #/songs: \["(Song/\d+)","(Song/\d+)","\1"\] -> \["\1","\1","\2"\]/#
      #expect(try moved.last.flatMap { try songs.wholeMatch(in: $0) } != nil, "\(moved)")
      let added = try lines(["diff", "Music", "\(last - 2)", "\(last - 1)"])
      #expect(added.contains { $0.hasPrefix("songs: [] -> [") }, "\(added)")
      #expect(added.count { $0.hasPrefix("playlists: ") } == 2, "\(added)")
      // A custom type's value is not known, but it is known to be unchanged.
      #expect(!added.contains { $0.hasPrefix("attributes") || $0.hasPrefix("origin") })
    }
  }
}
