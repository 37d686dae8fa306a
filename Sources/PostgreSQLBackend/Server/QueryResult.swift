import CLibPQ
import Files

/// The rows of an answer, in the server's binary form and in the memory of libpq.
///
/// `@unchecked Sendable`: the pointer is set once and freed in `deinit`; nothing writes to what it
/// points to.
@safe final class QueryResult: @unchecked Sendable {
  private let result: OpaquePointer
  let rowCount: Int

  /// Takes ownership of a result.
  @unsafe init(_ result: OpaquePointer) {
    unsafe self.result = result
    rowCount = Int(unsafe PQntuples(result))
  }

  deinit { unsafe PQclear(result) }

  func isNull(_ row: Int, _ column: Int32) -> Bool {
    unsafe PQgetisnull(result, Int32(row), column) != 0
  }

  /// Calls a closure with the bytes of a field; none for NULL.
  func withBytes<Result, Failure: Error>(
    _ row: Int, _ column: Int32, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let count = Int(unsafe PQgetlength(result, Int32(row), column))
    let start = unsafe PQgetvalue(result, Int32(row), column)
    return try unsafe body(UnsafeRawBufferPointer(start: start, count: count).bytes)
  }

  /// Copies the bytes of a field.
  func bytes(_ row: Int, _ column: Int32) -> [UInt8] {
    withBytes(row, column) { [UInt8](copying: $0) }
  }
}

extension QueryResult {
  /// Returns the number in a field of two, four or eight bytes.
  ///
  /// - Returns: nil for NULL or a field of another size.
  func int(_ row: Int, _ column: Int32) -> Int64? {
    if isNull(row, column) { return nil }
    return withBytes(row, column) { bytes in
      switch bytes.byteCount {
      case 2: Int64(Int16(bitPattern: bytes.loadUInt16(at: 0, isBigEndian: true)))
      case 4: Int64(Int32(bitPattern: bytes.loadUInt32(at: 0, isBigEndian: true)))
      case 8: Int64(bitPattern: bytes.loadUInt64(at: 0, isBigEndian: true))
      default: nil
      }
    }
  }

  /// Returns the number in a field that is never NULL.
  func number(_ row: Int, _ column: Int32) throws(ServerFailure) -> Int64 {
    guard row < rowCount, let number = int(row, column) else {
      throw ServerFailure.unexpectedAnswer
    }
    return number
  }

  /// Whether a field contains true.
  func bool(_ row: Int, _ column: Int32) -> Bool { bytes(row, column) == [1] }

  /// Returns the text in a field.
  func text(_ row: Int, _ column: Int32) -> String {
    String(decoding: bytes(row, column), as: UTF8.self)
  }

  /// Returns the elements of an array, nil for each NULL; nil for an array that is NULL.
  func array<Element>(
    _ row: Int, _ column: Int32, _ element: (RawSpan) -> Element
  ) throws(ServerFailure) -> [Element?]? {
    if isNull(row, column) { return nil }
    return try withBytes(row, column) { (bytes) throws(ServerFailure) in
      guard bytes.byteCount >= 12 else { throw ServerFailure.unexpectedAnswer }
      if bytes.loadUInt32(at: 0, isBigEndian: true) == 0 { return [] }
      guard bytes.byteCount >= 20 else { throw ServerFailure.unexpectedAnswer }
      var elements: [Element?] = []
      var offset = 20
      for _ in 0..<bytes.loadUInt32(at: 12, isBigEndian: true) {
        guard offset + 4 <= bytes.byteCount else { throw ServerFailure.unexpectedAnswer }
        let count = Int(Int32(bitPattern: bytes.loadUInt32(at: offset, isBigEndian: true)))
        offset += 4
        guard count >= 0 else {
          elements.append(nil)
          continue
        }
        guard offset + count <= bytes.byteCount else { throw ServerFailure.unexpectedAnswer }
        elements.append(element(bytes.extracting(offset..<offset + count)))
        offset += count
      }
      return elements
    }
  }

  /// Returns the numbers of an array without NULLs.
  func ints(_ row: Int, _ column: Int32) throws(ServerFailure) -> [Int] {
    try array(row, column) { bytes in
      switch bytes.byteCount {
      case 2: Int(Int16(bitPattern: bytes.loadUInt16(at: 0, isBigEndian: true)))
      case 4: Int(Int32(bitPattern: bytes.loadUInt32(at: 0, isBigEndian: true)))
      case 8: Int(Int64(bitPattern: bytes.loadUInt64(at: 0, isBigEndian: true)))
      default: 0
      }
    }?.compactMap(\.self) ?? []
  }

  /// Returns the texts of an array without NULLs.
  func texts(_ row: Int, _ column: Int32) throws(ServerFailure) -> [String] {
    try byteArrays(row, column).map { String(decoding: $0 ?? [], as: UTF8.self) }
  }

  /// Returns the byte arrays of an array.
  func byteArrays(_ row: Int, _ column: Int32) throws(ServerFailure) -> [[UInt8]?] {
    try array(row, column) { [UInt8](copying: $0) } ?? []
  }
}
