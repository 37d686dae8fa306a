extension ClassMetadata {
  /// A metadata row made from the records of a class that has lost its own.
  ///
  /// Checksums hold the class ID, so that it can be found by trying.
  ///
  /// The samples are a few records with their rows, the unused class IDs those that no other class
  /// has, lowest first. The answer says whether the class ID is proven.
  package static func guessed(
    lastRowID: UInt32, classVersion: UInt8, samples: [(rowID: UInt32, bytes: [UInt8])],
    unused: [UInt8]
  ) -> (metadata: ClassMetadata, isProven: Bool) {
    let proven = (0..<UInt8.max).first { classID in
      samples.contains { sample in
        RecordChecksum.isValid(sample.bytes.span, classID: classID, rowID: sample.rowID)
      }
    }
    let metadata = ClassMetadata(
      lastRowID: lastRowID, classVersion: classVersion, classID: proven ?? unused.first ?? 0,
      salt: .init(0, 0), flags: proven == nil ? nil : .checksums)
    return (metadata, proven != nil)
  }
}
