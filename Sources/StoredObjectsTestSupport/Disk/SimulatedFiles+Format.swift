import StoredObjectsCore

extension SimulatedFiles {
  static func key(_ rowID: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rowID >> $0) }
  }

  static func row(_ key: [UInt8]) -> UInt32 { key.reduce(0) { $0 << 8 | UInt32($1) } }

  /// The bytes of a file: a length, a checksum (FNV-1a), and keys and values with their lengths.
  static func encode(_ content: Content) -> [UInt8] {
    var body = DataBuffer()
    for (key, value) in content.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      body.write(key)
      body.write(value)
    }
    var file = DataBuffer()
    file.write(UInt64(body.bytes.count))
    file.write(checksum(body.bytes))
    return file.bytes + body.bytes
  }

  static func decode(_ bytes: [UInt8], _ name: String) throws -> Content {
    var buffer = DataBuffer(bytes)
    var content: Content = [:]
    guard let length = try? buffer.readUInt64(), let sum = try? buffer.readUInt64(),
      length == UInt64(buffer.remainingCount), sum == checksum(Array(bytes[buffer.offset...]))
    else { throw StoreError(.damaged, "The file doesn't add up.", at: .init(path: name)) }
    while buffer.remainingCount > 0 {
      let key = try buffer.readBytes()
      content[key] = try buffer.readBytes()
    }
    return content
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
