import Files
import StoreEngine

/// Gathers lines of JSON and hands them on in large pieces.
struct JSONOutput {
  private static let pieceSize = 1 << 18

  private var bytes: [UInt8] = []
  private let write: ([UInt8]) throws -> Void

  init(_ write: @escaping ([UInt8]) throws -> Void) { self.write = write }

  mutating func append(_ value: StoredValue) throws {
    try JSONWriter.append(value, to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    if bytes.count >= Self.pieceSize { try flush() }
  }

  mutating func flush() throws {
    if bytes.isEmpty { return }
    try write(bytes)
    bytes.removeAll(keepingCapacity: true)
  }
}

/// Makes a file that has its name once it is whole and on the disk.
package func withNewFile(
  _ path: String, _ body: (_ write: @escaping ([UInt8]) throws -> Void) throws -> Void
) throws(StoreError) {
  let partial = "\(path).partial-\(UInt32.random(in: 0 ... .max))"
  do {
    let file = try NewFile(partial)
    var offset = 0
    try withoutActuallyEscaping({ (bytes: [UInt8]) throws -> Void in
      try file.write(bytes, at: offset)
      offset += bytes.count
    }) { try body($0) }
    try file.synchronize()
    try renameFile(partial, path)
    try path.location.synchronizeDirectory()
  } catch {
    try? removeFile(partial)
    if let error = error as? SystemError { throw StoreError(error) }
    throw .wrapping(error, .ioError, at: .init(path: path))
  }
}
