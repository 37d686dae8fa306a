import Files
import StoreEngine

/// The full-text index of a class that is registered with a store.
struct RegisteredText {
  let attributes: [FullTextAttribute]
  let table: OrderedTableID
  /// An index that is being made is committed every so many rows; tests have fewer.
  var batchRows = 100_000
  /// An index of so many objects is made by sorting in temporary files, where the backend can;
  /// tests have fewer.
  var sortedCount = 2000
  /// And saved on the way every so many bytes of places; tests have fewer.
  var stepBytes = 1 << 30
  private let declaration: String

  /// How texts are folded and laid out; another number lets all indexes be made anew.
  private static let version = 1

  init(
    _ attributes: [FullTextAttribute], _ table: OrderedTableID, _ layouts: ClassLayouts
  ) {
    (self.attributes, self.table) = (attributes, table)
    // The class reads records of earlier versions in its own way, which may change with it.
    declaration = "\(layouts.contentVersion)" + attributes.map { "\u{1F}" + $0.name }.joined()
  }

  /// The stamp of an index that is whole.
  ///
  /// Made when it is asked for: a store that is opened does not wait for the version of Unicode.
  var stamp: [UInt8] {
    Array("\(Self.version) \(ScalarFolding.unicodeVersion) \(declaration)".utf8)
  }

  /// The texts of an object.
  func texts(of object: StoredObject) -> [String] { attributes.map { $0.text(object) ?? "" } }

  /// The texts of an object whose record can't be read.
  var noTexts: [String] { attributes.map { _ in "" } }

  /// The texts of a row whose record can't be read, as the index has them: none, if it was left
  /// out; nil when the index has some words of it.
  func textsLeftOut(_ row: UInt32, _ backend: any StoreBackend) throws(StoreError) -> [String]?? {
    var lengths = TextLengths(self, backend)
    for attribute in attributes.indices where try lengths.length(row, attribute) > 0 { return nil }
    return .some(noTexts)
  }

  /// Whether the table has the texts of every object of its class, as far as that can be told at
  /// once.
  func isUsable(_ entry: RegisteredClass, _ backend: any StoreBackend) throws(StoreError) -> Bool {
    guard try hasStamp(backend) else { return false }
    return try counts(backend).objects == UInt64(Self.objectCount(entry, backend))
  }

  /// Whether the table says that it is whole, and made by what the class declares now.
  func hasStamp(_ backend: any StoreBackend) throws(StoreError) -> Bool {
    try backend.withValue(of: PostingFormat.stampKey, in: table) { [UInt8](copying: $0) } == stamp
  }

  /// Whether somebody has begun to make it.
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

  /// What is counted in an index.
  func counts(_ backend: any StoreBackend) throws(StoreError) -> TextCounts {
    try backend.withValue(of: PostingFormat.countsKey, in: table) {
      TextCounts($0, attributes.count)
    } ?? TextCounts(attributes.count)
  }
}

/// What is counted in a full-text index.
struct TextCounts: Equatable {
  /// One more with each save, so that a search notices one that comes between.
  var saves: UInt64 = 0
  var objects: UInt64 = 0
  /// The lengths of all texts of each attribute.
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
  /// The full-text index that a class declares, with its table.
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
