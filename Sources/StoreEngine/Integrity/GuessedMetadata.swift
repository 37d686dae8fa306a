extension ClassMetadata {
  /// Guesses the metadata row of a class that has lost its own, from its records.
  ///
  /// The checksums of records cover the class ID, so it can be found by trying all of them.
  ///
  /// - Parameters:
  ///   - lastRowID: The highest row ID.
  ///   - classVersion: The version of the class.
  ///   - samples: A few records with their rows.
  ///   - unused: The class IDs that no other class has, lowest first.
  /// - Returns: The metadata, and whether the class ID is proven.
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
