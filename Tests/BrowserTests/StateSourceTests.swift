import Foundation
import RecordBrowsing
import StoredObjectsCore
import TestFiles
import TestedBackends
import Testing

@Suite("Following the saves of a program")
struct StateSourceTests {
  @Test(
    "A store is read beside a writer that has it for itself, and opened again only for news",
    arguments: TestedBackend.onDisk)
  func besideWriter(kind: TestedBackend) throws {
    try withTemporaryDirectory { folder in
      let directory = folder + "/store"
      let writer = try kind.open(directory)
      try fill(writer, tracks: 10)
      let source = PolledSource(directory) { () throws(StoreError) in
        try StoreError.wrapped { try kind.open(directory, readOnly: true) }
      }
      let store = try browsedStore(writer)
      let track = try #require(try store.object(Track.self, rowID: 2))
      for step in 0..<5 {
        track.title = "Title \(step)"
        try store.saveChanges()
        if step == 3 { try writer.checkpoint() }
        // Longer than the resolution of the files' times.
        Thread.sleep(forTimeInterval: 0.06)
        let state = try source.state()
        #expect(state.number == writer.lastCommitNumber)
        #expect(try state.object(ObjectAddress("Track", 2)).title == "Title \(step)")
        Thread.sleep(forTimeInterval: 0.06)
        _ = try source.state()
        Thread.sleep(forTimeInterval: 0.06)
        #expect(try source.state() === source.state())
      }
      // A state stays as it is while the program goes on.
      let old = try source.state()
      track.title = "Later"
      try store.saveChanges()
      try writer.checkpoint()
      #expect(try old.object(ObjectAddress("Track", 2)).title == "Title 4")
      source.close()
      try writer.close()
    }
  }
}
