import StoreEngine

/// The first line of an export: the classes of the store, with their layouts.
struct JSONHeader {
  /// The format version that this library writes, and the only one that it reads.
  static let version: Int64 = 1
  private static let mark = "storedObjects"

  var classes: [Class]

  /// A class and the layouts of its lines.
  struct Class {
    let name: String
    let classID: UInt8
    let lastRowID: UInt32
    /// The layouts by ascending number; empty for a class without a known layout.
    let layouts: [SavedLayout]
  }

  /// Returns whether a line is a header.
  static func isHeader(_ value: StoredValue) -> Bool {
    guard case .dictionary(let fields) = value else { return false }
    return fields[mark] != nil
  }

  /// The header as a value.
  var storedValue: StoredValue {
    [
      "storedObjects": .int(Self.version),
      "classes": .array(StoredValue.Elements(classes.map(\.storedValue))),
    ]
  }

  /// Reads a header.
  ///
  /// - Throws: ``ValueFailure``.
  init(_ value: StoredValue) throws {
    guard case .dictionary(let fields) = value, case .int(let version)? = fields[Self.mark] else {
      throw ValueFailure("The header is not valid.")
    }
    guard version == Self.version else {
      throw ValueFailure("The file was written by a later version of this library.")
    }
    guard case .array(let classes)? = fields["classes"] else {
      throw ValueFailure("The header has no classes.")
    }
    self.classes = try classes.map(Class.init)
  }

  init(classes: [Class]) { self.classes = classes }
}

extension JSONHeader.Class {
  fileprivate var storedValue: StoredValue {
    var fields: StoredValue.Fields = [
      "name": .string(name), "id": .int(Int64(classID)), "lastRow": .int(Int64(lastRowID)),
    ]
    if !layouts.isEmpty {
      var buffer = DataBuffer()
      LayoutFormat.write(layouts, to: &buffer)
      fields["layouts"] = .base64(buffer.bytes)
    }
    if case .properties(let properties)? = layouts.last?.form {
      let types = properties.map { ($0.name, StoredValue.string("\($0.type)")) }
      fields["properties"] = .dictionary(StoredValue.Fields(types))
    }
    return .dictionary(fields)
  }

  fileprivate init(_ value: StoredValue) throws {
    guard case .dictionary(let fields) = value, case .string(let name)? = fields["name"],
      case .int(let id)? = fields["id"], let classID = UInt8(exactly: id),
      case .int(let row)? = fields["lastRow"], let lastRowID = UInt32(exactly: row)
    else { throw ValueFailure("A class of the header is not valid.") }
    (self.name, self.classID, self.lastRowID) = (name, classID, lastRowID)
    guard let text = fields["layouts"] else {
      layouts = []
      return
    }
    do {
      var buffer = DataBuffer(text.plainBytes ?? [])
      layouts = try LayoutFormat.read(&buffer).sorted { $0.number < $1.number }
    } catch {
      throw ValueFailure("The layouts of \"\(name)\" in the header are not valid: \(error).")
    }
  }

  /// Returns the layout of a line; nil means the newest.
  func layout(_ number: UInt8?) -> SavedLayout? {
    guard let number else { return layouts.last }
    return layouts.first { $0.number == number }
  }
}
