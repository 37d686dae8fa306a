import StoreEngine

/// The layouts of a class in a store: the one that it writes, and those that its records have.
struct ClassLayouts: Sendable {
  /// The first byte of the records that the class writes.
  let number: UInt8
  /// The version that the class declares.
  let classVersion: UInt8
  /// The layouts that the store has after the next save of the class.
  let all: [SavedLayout]
  /// Whether the store lacks some of them.
  var needsSaving: Bool
  /// Whether a later program has saved the class, so that this one must not save it.
  let isOutdated: Bool
  /// The assumed layouts of records from before stores kept layouts.
  let assumed: [SavedLayout]
  /// The ways to read records, by their first byte; shorter than 256 if the last numbers are rare.
  let readings: [RecordReading?]
  /// Returns how to read records with a number that no record has.
  let rareReading: @Sendable (UInt8) -> RecordReading

  /// The way to read the records of one number.
  enum RecordReading: Sendable {
    /// The class reads the record itself, as one of its versions wrote it.
    case asVersion(UInt8)
    /// The record is converted by name, then read as a version of the class wrote it.
    case converted(RecordConversion, version: UInt8)
    /// This program can't read the record.
    case later
  }

  /// A text that changes whenever the contents of objects may be encoded differently.
  var contentVersion: String {
    number == classVersion ? "\(classVersion)" : "\(classVersion).\(number)"
  }

  /// The highest version of the class that has saved anything.
  var lastClassVersion: UInt8 { all.map(\.classVersion).max() ?? classVersion }

  /// Returns how to read a record; `later` for an unknown number.
  func reading(_ number: UInt8) -> RecordReading {
    let isListed = readings.indices.contains(Int(number))
    return (isListed ? readings[Int(number)] : nil) ?? rareReading(number)
  }

  /// The versions of the records that the class reads as they are, by number.
  var directNumbers: [UInt8: UInt8] {
    var numbers: [UInt8: UInt8] = [:]
    for (number, reading) in readings.enumerated() {
      if case .asVersion(let version) = reading { numbers[UInt8(number)] = version }
    }
    return numbers
  }
}
