import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

/// A number that is kept in two classes.
private final class Left: StoredObject {
  @Content var value: UInt32 = 0
  @Content var bytes: [UInt8] = []
  override func readContent(from buffer: inout DataBuffer) throws {
    (value, bytes) = (try buffer.readUInt32(), try buffer.read([UInt8].self))
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(value)
    buffer.write(bytes)
  }
}

private final class Right: StoredObject {
  @Content var value: UInt32 = 0
  override func readContent(from buffer: inout DataBuffer) throws {
    value = try buffer.readUInt32()
  }
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(value) }
}

@Suite("Reads during writes", .hangLimit)
struct ContainerIsolationTests {
  @Test(
    "Each read finds two classes as of one commit, while the log is folded repeatedly",
    arguments: TestedBackend.allCases)
  func readsAreWhole(_ kind: TestedBackend) async throws {
    try await withTemporaryDirectory { directory in
      let backend: any StoreBackend =
        kind == .memory ? try MemoryBackend() : try kind.openSmall(directory + "/store")
      let container = try StoreContainer(backend: backend, classes: [Left.self, Right.self])
      try await container.write { store in
        for _ in 0..<20 {
          store.insert(Left())
          store.insert(Right())
        }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await change(container, 150) }
        for _ in 0..<3 {
          group.addTask {
            for _ in 0..<60 { try await compare(container) }
          }
        }
        try await group.waitForAll()
      }
      let value = try await container.read { try $0.allObjects(of: Right.self).first?.value }
      #expect(value == 150)
      try await container.close()
    }
  }

  private func change(_ container: StoreContainer, _ count: UInt32) async throws {
    for _ in 0..<count {
      try await container.write { store in
        for left in try store.allObjects(of: Left.self) {
          left.value += 1
          left.bytes = Array(repeating: UInt8(truncatingIfNeeded: left.value), count: 100)
        }
        for right in try store.allObjects(of: Right.self) { right.value += 1 }
      }
    }
  }

  private func compare(_ container: StoreContainer) async throws {
    try await container.read { store in
      let left = Set(try store.allObjects(of: Left.self).map(\.value))
      let right = Set(try store.allObjects(of: Right.self).map(\.value))
      #expect(left.count == 1 && left == right)
    }
  }
}
