import Foundation
import StoredObjects

/// The fields of a track or a playlist in a library file that the model does not have.
///
/// They are stored as bytes, because most commands never read them. Equal attributes have equal
/// bytes.
struct Attributes: Hashable, DataBufferValue {
  private var bytes = Data()

  init(_ values: [String: PropertyValue] = [:]) {
    guard !values.isEmpty else { return }
    var buffer = DataBuffer()
    buffer.write(PropertyValue.dictionary(values))
    bytes = Data(buffer.bytes)
  }

  /// Returns the attributes by their keys in the file.
  func values() throws(DataBufferError) -> [String: PropertyValue] {
    guard !bytes.isEmpty else { return [:] }
    var buffer = DataBuffer([UInt8](bytes))
    guard case .dictionary(let values) = try PropertyValue(from: &buffer) else {
      throw DataBufferError(.invalidValue, at: 0, "attributes are a dictionary")
    }
    return values
  }

  init(from buffer: inout DataBuffer) throws(DataBufferError) { bytes = try buffer.readData() }

  func write(to buffer: inout DataBuffer) { buffer.write(bytes) }

  static var minimumByteCount: Int { Data.minimumByteCount }
}
