import Files
import StoreEngine

extension ItemFormat {
  /// Reads and verifies a record.
  ///
  /// - Throws: `StoreError` with `damaged` or `newerVersion`, without the table and the key.
  static func record(_ bytes: RawSpan, of key: RawSpan, in table: UInt32) throws(StoreError)
    -> ItemRecord
  {
    let (head, range) = try verify(bytes, of: key, in: table)
    return ItemRecord(head: head, value: try value(in: bytes, range))
  }

  /// Reads and verifies a record, with errors that name the table and the key.
  ///
  /// - Throws: `StoreError` with `damaged` or `newerVersion`.
  static func record(
    _ bytes: RawSpan, of key: RawSpan, _ name: String, _ state: TableState
  ) throws(StoreError) -> ItemRecord {
    do {
      return try record(bytes, of: key, in: state.number)
    } catch {
      throw error.naming(table: state.name, key: name)
    }
  }

  /// Verifies a record, and returns its head and the range of its value.
  @inline(__always)
  private static func verify(
    _ bytes: RawSpan, of key: RawSpan, in table: UInt32
  ) throws(StoreError) -> (head: ItemHead, value: Range<Int>) {
    let end = bytes.byteCount - checksumSize
    guard end > 0 else { throw damage(0) }
    let body = bytes.extracting(0..<end)
    guard
      ItemChecksum.value(table, key, body) == bytes.loadUInt32(at: end, isBigEndian: false)
    else { throw StoreError(.damaged, "The checksum of the item is wrong.") }
    guard let (head, size) = head(of: body) else {
      if body.loadByte(at: 0) & 0xF0 == version { throw damage(0) }
      throw StoreError(
        .newerVersion, "A newer version of this library wrote the item: use that version.")
    }
    return (head, size..<end)
  }

  private static func value(
    in bytes: RawSpan, _ range: Range<Int>
  ) throws(StoreError) -> StoredValue {
    do {
      return try ValueReader.value(in: bytes.extracting(range))
    } catch {
      throw damage(range.lowerBound, error)
    }
  }

  // MARK: Borrowing

  /// Verifies a record, and calls a closure with the bytes of its value: data or a string.
  ///
  /// - Parameters:
  ///   - bytes: The record.
  ///   - key: The key.
  ///   - state: The table.
  ///   - isIncluded: Returns whether the closure is called for an item with these times.
  ///   - body: Called with the bytes.
  /// - Throws: `StoreError` with `damaged`, `newerVersion` or `typeMismatch`.
  @inline(__always)
  static func lendBytes(
    _ bytes: RawSpan, of key: RawSpan, _ state: TableState,
    where isIncluded: (ItemHead) -> Bool, _ body: (RawSpan) -> Void
  ) throws(StoreError) {
    do throws(StoreError) {
      let (head, range) = try verify(bytes, of: key, in: state.number)
      if isIncluded(head) { body(bytes.extracting(try rangeOfBytes(in: bytes, range))) }
    } catch {
      throw error.naming(
        table: state.name, key: String(decoding: [UInt8](copying: key), as: UTF8.self))
    }
  }

  private static func rangeOfBytes(
    in bytes: RawSpan, _ range: Range<Int>
  ) throws(StoreError) -> Range<Int> {
    let found: Range<Int>?
    do {
      found = try ValueReader.rangeOfBytes(in: bytes.extracting(range))
    } catch {
      throw damage(range.lowerBound, error)
    }
    guard let found else { throw .noBytes(try value(in: bytes, range)) }
    return range.lowerBound + found.lowerBound..<range.lowerBound + found.upperBound
  }

  private static func damage(_ offset: Int, _ error: (any Error)? = nil) -> StoreError {
    let offset = offset + ((error as? ValueFormat.Damage)?.offset ?? 0)
    return StoreError(.damaged, "The item is damaged at byte \(offset).")
  }
}
