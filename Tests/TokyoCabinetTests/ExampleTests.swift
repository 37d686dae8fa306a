import TestFiles
import Testing
import TokyoCabinet

@Suite("Documentation")
struct ExampleTests {
  @Test("The example of the module's page works")
  func landingPage() throws {
    try withTemporaryDirectory { directory in
      let songs = try HashDatabase(
        path: directory + "/Songs", tuning: Tuning(bucketCount: 400_000, alignmentPower: 2))
      try songs.put(key: Array("elise".utf8), value: Array("Für Elise".utf8))
      if let title = try songs.value(forKey: Array("elise".utf8)) {
        #expect(String(decoding: title, as: UTF8.self) == "Für Elise")
      }
      try songs.transaction { songs in
        try songs.append(key: Array("elise".utf8), value: Array(" (Beethoven)".utf8))
        _ = try songs.remove(key: Array("unknown".utf8))
      }
      try songs.forEach { key, value in
        #expect(key.byteCount == 5)
        #expect(value.byteCount == 22)
      }
      try songs.synchronize()
      try songs.close()
    }
  }
}
