import FoundationEssentials

extension Data {
  /// Copies the bytes of a span, once.
  ///
  /// An array as a step between would be another allocation and another copy.
  init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return Data() }
      return unsafe Data(bytes: start, count: bytes.count)
    }
  }
}
