/// The order of the bytes of a number.
public enum ByteOrder: Sendable {
  /// The least significant byte first, as integers are stored.
  case littleEndian
  /// The most significant byte first, as floating-point numbers are stored.
  case bigEndian
}
