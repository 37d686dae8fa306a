import RecordBrowsing
import StoredObjectsBrowser
import StoredObjectsTestSupport
import TestedBackends

/// Runs a test with a session that shows a store in memory, for reading.
func withSession(_ body: (BrowserSession) throws -> Void) throws {
  try TestedBackend.memory.withLocation { location in
    let backend = try location.open(readOnly: false)
    try fill(backend)
    let session = BrowserSession(
      LiveSource(backend), editor: nil, options: .init(name: "Tested", format: "memory"))
    try body(session)
    session.close()
  }
}
