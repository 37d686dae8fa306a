import Foundation
import Locks
import StoredObjectsCore
import Testing

private final class Measurement: StoredObject {
  @Content var value: UInt32 = 0

  override class var isCodedOnAnyThread: Bool { true }

  override func readContent(from buffer: inout DataBuffer) throws {
    value = try buffer.readUInt32()
    _ = Threads.seen.withLock { $0.insert(ThreadIdentity.current) }
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(value)
    _ = Threads.seen.withLock { $0.insert(ThreadIdentity.current) }
  }
}

/// The threads on which objects were read and written.
private enum Threads {
  static let seen = Locked<Set<UInt>>([])
}

@Suite("A process with one processor")
struct OneProcessorTests {
  @Test("It reads and writes all objects on the thread of the store")
  func oneThread() async {
    await #expect(processExitsWith: .success) {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/taskset")
      process.arguments = ["-a", "-p", "-c", "0", "\(getpid())"]
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      try #require(process.terminationStatus == 0)
      #expect(!TwoThreads.areUseful)

      let backend = try MemoryBackend()
      let store = Store(backend: backend)
      try store.register(Measurement.self)
      for number in 0..<UInt32(50_000) {
        let measurement = Measurement()
        measurement.value = number
        store.insert(measurement)
      }
      try store.saveChanges()
      let other = Store(backend: backend)
      try other.register(Measurement.self)
      let values = try other.allObjects(of: Measurement.self).map(\.value)
      #expect(values == Array(0..<50_000))
      #expect(Threads.seen.withLock(\.self) == [ThreadIdentity.current])
    }
  }
}
