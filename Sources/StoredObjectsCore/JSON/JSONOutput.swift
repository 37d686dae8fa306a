import Files
import FoundationEssentials
import StoreEngine

/// A buffer for lines of JSON, which it passes on in large pieces.
struct JSONOutput {
  private static let pieceSize = 1 << 18

  private var bytes: [UInt8] = []
  private let write: ([UInt8]) throws -> Void

  init(_ write: @escaping ([UInt8]) throws -> Void) { self.write = write }

  /// Appends a line.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - large: The large values behind some texts, which this method reads in pieces.
  /// - Throws: ``ValueFailure``, and the errors of reading a value and of the closure.
  mutating func append(
    _ value: StoredValue, _ large: LargeTexts<() throws -> ExternalReader>? = nil
  ) throws {
    if let large, !large.isEmpty {
      defer { large.removeAll() }
      try JSONWriter.append(value, to: &bytes) { [write] text, bytes in
        guard let open = large.source(of: text) else { return false }
        try Self.append(open(), to: &bytes, write)
        return true
      }
    } else {
      try JSONWriter.append(value, to: &bytes)
    }
    bytes.append(UInt8(ascii: "\n"))
    if bytes.count >= Self.pieceSize { try flush() }
  }

  /// Appends a value as Base64, and passes on the buffer as it fills.
  private static func append(
    _ reader: consuming ExternalReader, to bytes: inout [UInt8],
    _ write: ([UInt8]) throws -> Void
  ) throws {
    bytes.append(UInt8(ascii: "\""))
    // Three bytes encode to four characters.
    var rest: [UInt8] = []
    while let chunk = try reader.next() {
      rest += chunk
      let whole = rest.count - rest.count % 3
      bytes += Data(rest.prefix(whole)).base64EncodedData()
      rest.removeFirst(whole)
      if bytes.count >= pieceSize {
        try write(bytes)
        bytes.removeAll(keepingCapacity: true)
      }
    }
    bytes += Data(rest).base64EncodedData()
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func flush() throws {
    if bytes.isEmpty { return }
    try write(bytes)
    bytes.removeAll(keepingCapacity: true)
  }
}

/// Creates a file that gets its name only after it is complete and on disk.
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
