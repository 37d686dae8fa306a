import StoreEngine

/// The layouts of a class in a store: the one that it writes, and those that its records have.
struct ClassLayouts: Sendable {
  /// The first byte of the records that are written.
  let number: UInt8
  /// The version that the class says it has.
  let classVersion: UInt8
  /// The layouts that the store will have after the next save of the class.
  let all: [SavedLayout]
  /// Whether the store doesn't have all of them yet.
  var needsSaving: Bool
  /// Whether a later program has saved the class, so that this one must not.
  let isOutdated: Bool
  /// The layouts that records from before layouts were kept are thought to have.
  let assumed: [SavedLayout]
  /// How records are read, by their first byte; shorter than 256 where the last are rare.
  let readings: [RecordReading?]
  /// The same for numbers that no record has.
  let rareReading: @Sendable (UInt8) -> RecordReading

  /// How the records of one number are read.
  enum RecordReading: Sendable {
    /// By the class itself, as a version of it wrote them.
    case asVersion(UInt8)
    /// By name, and then as a version of the class wrote it.
    case converted(RecordConversion, version: UInt8)
    /// Not by this program.
    case later
  }

  /// What the contents of objects depend on, as a text.
  var contentVersion: String {
    number == classVersion ? "\(classVersion)" : "\(classVersion).\(number)"
  }

  /// The highest version of the class that has saved anything.
  var lastClassVersion: UInt8 { all.map(\.classVersion).max() ?? classVersion }

  /// How a record is read; `later` for a number that nobody knows.
  func reading(_ number: UInt8) -> RecordReading {
    let isListed = readings.indices.contains(Int(number))
    return (isListed ? readings[Int(number)] : nil) ?? rareReading(number)
  }

  /// The numbers of records that the class reads itself, as they are.
  var directNumbers: [UInt8: UInt8] {
    var numbers: [UInt8: UInt8] = [:]
    for (number, reading) in readings.enumerated() {
      if case .asVersion(let version) = reading { numbers[UInt8(number)] = version }
    }
    return numbers
  }
}
