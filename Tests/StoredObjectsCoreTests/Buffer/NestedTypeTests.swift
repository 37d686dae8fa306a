import StoredObjectsCore
import TestFiles
import Testing

/// A type that holds values of itself, in every way that the buffer has.
private indirect enum Tree: DataBufferValue, Hashable {
  case leaf
  case branches([Tree])
  case twig(Tree?)
  case next(Tree)
  case set(Set<Tree>)
  case named([String: Tree])

  init(from buffer: inout DataBuffer) throws(DataBufferError) {
    switch try buffer.readUInt8() {
    case 0: self = .leaf
    case 1: self = .branches(try buffer.read())
    case 2: self = .twig(try buffer.read())
    case 3: self = .next(try buffer.read())
    case 4: self = .set(try buffer.read())
    default: self = .named(try buffer.read())
    }
  }

  func write(to buffer: inout DataBuffer) {
    switch self {
    case .leaf: buffer.write(UInt8(0))
    case .branches(let trees):
      buffer.write(UInt8(1))
      buffer.write(trees)
    case .twig(let tree):
      buffer.write(UInt8(2))
      buffer.write(tree)
    case .next(let tree):
      buffer.write(UInt8(3))
      buffer.write(tree)
    case .set(let trees):
      buffer.write(UInt8(4))
      buffer.write(trees)
    case .named(let trees):
      buffer.write(UInt8(5))
      buffer.write(trees)
    }
  }

  /// The bytes of one level, in front of the next.
  static let levels: [[UInt8]] = [
    [1, 1, 0, 0, 0], [2, 1], [3], [4, 1, 0, 0, 0], [5, 1, 0, 0, 0, 0, 0, 0, 0],
  ]

  static func deep(_ depth: Int) -> Tree {
    (0..<depth).reduce(.leaf) { tree, _ in .branches([tree]) }
  }
}

private final class Forest: StoredObject {
  @Content var tree = Tree.leaf
  override func writeContent(to buffer: inout DataBuffer) { buffer.write(tree) }
  override func readContent(from buffer: inout DataBuffer) throws { tree = try buffer.read() }
}

@Suite("Custom values that contain each other") struct NestedTypeTests {
  @Test("Bytes that nest them 100,000 deep are an error with an offset", arguments: Tree.levels)
  func hostile(level: [UInt8]) {
    let error = onSmallStack { () -> DataBufferError? in
      var buffer = DataBuffer(Array(repeatElement(level, count: 100_000).joined()) + [0])
      do throws(DataBufferError) {
        _ = try buffer.read(Tree.self)
        return nil
      } catch { return error }
    }
    #expect(error?.code == .tooDeep)
    #expect((error?.offset ?? 0) > 100)
  }

  @Test("128 arrays in each other are read and written, and 129 are not")
  func limit() throws {
    @Sendable func roundTrip(_ depth: Int) -> (write: DataBufferError?, read: DataBufferError?) {
      var buffer = DataBuffer()
      buffer.write(Tree.deep(depth))
      var hostile = DataBuffer(Array(repeatElement(Tree.levels[0], count: depth).joined()) + [0])
      do throws(DataBufferError) {
        _ = try hostile.read(Tree.self)
        return (buffer.failure, nil)
      } catch { return (buffer.failure, error) }
    }
    let (good, bad) = onSmallStack { (roundTrip(127), roundTrip(128)) }
    #expect(good.write == nil && good.read == nil)
    #expect(bad.write?.code == .tooDeep && bad.read?.code == .tooDeep)
  }

  @Test("After a value that was too deep, others are read and written")
  func recovered() throws {
    var buffer = DataBuffer(Array(repeatElement(Tree.levels[0], count: 2_000).joined()) + [0])
    for _ in 0..<2 {
      buffer = DataBuffer(buffer.bytes)
      #expect(throws: DataBufferError.self) { try buffer.read(Tree.self) }
    }
    buffer = DataBuffer()
    for _ in 0..<1_000 { buffer.write([Tree.deep(3)]) }
    #expect(buffer.failure == nil)
    buffer = DataBuffer(buffer.bytes)
    for _ in 0..<1_000 { #expect(try buffer.read([Tree].self) == [Tree.deep(3)]) }
  }

  @Test("A save that would nest too deep is refused, and changes nothing")
  func refused() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Forest.self)
    let forest = Forest()
    store.insert(forest)
    forest.tree = .deep(200)
    let error = #expect(throws: StoreError.self) { try store.saveChanges() }
    #expect((error?.underlying as? DataBufferError)?.code == .tooDeep)
    forest.tree = .deep(100)
    try store.saveChanges()
    store.refresh(forest)
    #expect(forest.tree == .deep(100))
  }
}
