import Files
public import StoreEngine
import TokyoCabinetFile

/// A search for the records of a hash file that may be damaged, in pure Swift.
///
/// The C library is not used, because a damaged file can make it end the process.
public struct HashClassSalvage: ClassFileSalvage {
  private var salvage: HashFileSalvage

  init(_ salvage: HashFileSalvage) { self.salvage = salvage }

  /// Calls a closure with the records in the order of the file.
  ///
  /// Complexity: linear in the size of the file; if it is damaged, at worst some hundred times
  /// that.
  ///
  /// - Throws: An error of the closure.
  public mutating func run(
    isValid: ((_ key: RawSpan, _ value: RawSpan) -> Bool)?, _ body: Body
  ) throws(StoreError) {
    try salvage.run(isValid: isValid) { (key, value, record) throws(StoreError) in
      try body(key, value, record.offset, record.isCertain)
    }
  }

  /// The reason why values can't be read, if they are compressed.
  public var unreadable: ClassFileDamage? {
    guard salvage.isUnsupported else { return nil }
    return ClassFileDamage(
      .fileDamaged, "The values are compressed, which only the C library can undo.")
  }

  /// Returns the damage found by the last run.
  ///
  /// Complexity: linear in the number of unreadable parts.
  public func damage(foundCount: Int) -> [ClassFileDamage] {
    var all: [ClassFileDamage] = []
    if salvage.header == nil {
      all.append(.init(.fileDamaged, "The header of the file is destroyed."))
    }
    if salvage.missingCount > 0 {
      let message = "The last \(salvage.missingCount) bytes of the file are gone."
      all.append(.init(.fileDamaged, message, offset: salvage.size))
    }
    if salvage.unreadableCount > 0 {
      let message = "\(salvage.unreadableCount) compressed records can't be decompressed."
      all.append(.init(.recordDamaged, message))
    }
    all += ClassFileDamage.gaps(salvage.gaps)
    if let expected = salvage.expectedCount, expected > foundCount {
      let message =
        "\(expected - foundCount) of \(expected) records were not found, or left out."
      all.append(.init(.countMismatch, message))
    }
    return all
  }
}
