// The keys of a class file: row IDs of 4 bytes, little-endian. See the page on formats.

import Files
import StoreEngine

/// Calls a closure with the key of a row.
@inline(__always)
func withKey<Result, Failure: Error>(
  of rowID: UInt32, _ body: (RawSpan) throws(Failure) -> Result
) throws(Failure) -> Result {
  let key: InlineArray<4, UInt8> = [
    UInt8(truncatingIfNeeded: rowID), UInt8(truncatingIfNeeded: rowID >> 8),
    UInt8(truncatingIfNeeded: rowID >> 16), UInt8(truncatingIfNeeded: rowID >> 24),
  ]
  // A byte has no padding, so all bytes are initialized.
  return try body(unsafe key.span.bytes)
}

/// The keys of hash files.
enum HashFileKeys: RowKeys {
  @inline(__always)
  static func lend<Result, Failure: Error>(
    _ rowID: UInt32, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withKey(of: rowID, body)
  }

  @inline(__always)
  static func rowID(_ key: RawSpan) -> UInt32? {
    key.byteCount == 4 ? key.loadUInt32(at: 0, isBigEndian: false) : nil
  }
}

/// Calls a closure with the key of a named buffer: its name in UTF-8.
func withKey<Result, Failure: Error>(
  ofBuffer name: String, _ body: (RawSpan) throws(Failure) -> Result
) throws(Failure) -> Result {
  try name.lendUTF8(body)
}
