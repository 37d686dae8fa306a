import Files
import StoreEngine

/// The full-text index of a class that is registered with a store.
struct RegisteredText {
  let attributes: [FullTextAttribute]
  let table: OrderedTableID
  /// The number of rows between commits while an index is built; tests use a smaller one.
  var batchRows = 100_000
  /// The number of objects from which an index is built by sorting, if the backend supports it.
  ///
  /// The sort uses temporary files. Tests use a smaller number.
  var sortedCount = 2000
  /// The number of bytes of positions between saves during that build; tests use a smaller one.
  var stepBytes = 1 << 30
  private let declaration: String

  /// The version of folding and layout; a new number makes every index rebuild.
  private static let version = 1

  init(
    _ attributes: [FullTextAttribute], _ table: OrderedTableID, _ layouts: ClassLayouts
  ) { self.init(attributes, table, contentVersion: layouts.contentVersion) }

  init(_ attributes: [FullTextAttribute], _ table: OrderedTableID, contentVersion: String) {
    (self.attributes, self.table) = (attributes, table)
    // The class reads records of earlier versions in its own way, which may change with its
    // version.
    declaration = contentVersion + attributes.map { "\u{1F}" + $0.name }.joined()
  }

  /// The stamp of a complete index.
  ///
  /// It is computed on demand, so that opening a store does not wait for the Unicode version.
  var stamp: [UInt8] {
    Array("\(Self.version) \(ScalarFolding.unicodeVersion) \(declaration)".utf8)
  }

  /// Returns the texts of an object.
  func texts(of object: StoredObject) -> [String] { attributes.map { $0.text(object) ?? "" } }

  /// The texts of an object whose record can't be read.
  var noTexts: [String] { attributes.map { _ in "" } }

  /// Returns the texts that the index has for a row whose record can't be read.
  ///
  /// They are empty if the index left the row out. Returns nil if the index has words of the row.
  func textsLeftOut(_ row: UInt32, _ backend: any StoreBackend) throws(StoreError) -> [String]?? {
    var lengths = TextLengths(self, backend)
    for attribute in attributes.indices where try lengths.length(row, attribute) > 0 { return nil }
    return .some(noTexts)
  }

  /// Returns whether the table has the texts of all objects of the class, as far as counts can say.
  func isUsable(_ entry: RegisteredClass, _ backend: any StoreBackend) throws(StoreError) -> Bool {
    guard try hasStamp(backend) else { return false }
    return try counts(backend).objects == UInt64(Self.objectCount(entry, backend))
  }

  /// Returns whether the table is complete and built by the current declaration of the class.
  func hasStamp(_ backend: any StoreBackend) throws(StoreError) -> Bool {
    try backend.withValue(of: PostingFormat.stampKey, in: table) { [UInt8](copying: $0) } == stamp
  }

  /// Returns whether a build of the index has begun and not finished.
  func isUnfinished(_ backend: any StoreBackend) throws(StoreError) -> Bool {
    try backend.withValue(of: PostingFormat.stampKey, in: table) {
      [UInt8](copying: $0) == IndexStamp.unfinished + stamp
    } ?? false
  }

  static func objectCount(_ entry: RegisteredClass, _ backend: any StoreBackend) throws(StoreError)
    -> Int
  {
    let rows = try backend.recordCount(in: entry.table)
    return max(0, rows - (entry.shared.metadata == nil ? 0 : 1))
  }

  /// Returns the counts in the index.
  func counts(_ backend: any StoreBackend) throws(StoreError) -> TextCounts {
    try backend.withValue(of: PostingFormat.countsKey, in: table) {
      TextCounts($0, attributes.count)
    } ?? TextCounts(attributes.count)
  }
}

/// The counts in a full-text index.
struct TextCounts: Equatable {
  /// The number of saves, by which a search notices a save in between.
  var saves: UInt64 = 0
  var objects: UInt64 = 0
  /// The total length of the texts of each attribute.
  var lengths: [UInt64]

  init(_ attributes: Int) { lengths = Array(repeating: 0, count: attributes) }

  init(_ value: RawSpan, _ attributes: Int) {
    self.init(attributes)
    guard value.byteCount == 8 * (2 + attributes) else { return }
    saves = value.loadUInt64(at: 0, isBigEndian: false)
    objects = value.loadUInt64(at: 8, isBigEndian: false)
    for index in lengths.indices {
      lengths[index] = value.loadUInt64(at: 16 + 8 * index, isBigEndian: false)
    }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for number in [saves, objects] + lengths { bytes.append(littleEndian: number) }
    return bytes
  }
}

extension Store {
  /// Returns the full-text index that a class declares, with its table.
  func registeredText(
    of type: StoredObject.Type, _ layouts: ClassLayouts
  ) throws(StoreError) -> RegisteredText? {
    let attributes = type.fullTextAttributes
    if attributes.isEmpty { return nil }
    var names: Set<ExactName> = []
    for attribute in attributes {
      precondition(
        names.insert(ExactName(attribute.name)).inserted,
        "Two full-text attributes of \(type) are named \(attribute.name).")
    }
    precondition(attributes.count < 256, "\(type) has more than 255 full-text attributes.")
    let table = try backend.orderedTable(textTableName(type.storedName))
    return RegisteredText(attributes, table, layouts)
  }

  func textTableName(_ className: String) -> OrderedTableName {
    OrderedTableName(className + IndexNames.fullText, kind: .index)
  }
}
