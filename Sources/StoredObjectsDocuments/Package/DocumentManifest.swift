import FoundationEssentials

/// The content of `Document.json`: the type of a document, and the programs that wrote it.
struct DocumentManifest: Codable, Equatable {
  /// The value of `format` in every document.
  static let format = "StoredObjects document"
  /// The version of the layout of the directory.
  static let layoutVersion = 1

  var format = Self.format
  var layoutVersion = Self.layoutVersion
  /// The identifier of the type.
  var type: String
  /// The version of the application's format.
  var formatVersion: Int
  /// The version of the program that created the document, and of the one that saved it last.
  var createdBy: String?
  var savedBy: String?
  var created: Date?

  init(of type: DocumentType) {
    (self.type, formatVersion) = (type.identifier, type.formatVersion)
    (createdBy, savedBy) = (type.programVersion, type.programVersion)
    created = Date(timeIntervalSince1970: Date.now.timeIntervalSince1970.rounded(.down))
  }

  /// Decodes the bytes of the file.
  init(_ bytes: [UInt8], at path: String) throws(DocumentError) {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    do {
      self = try decoder.decode(DocumentManifest.self, from: Data(bytes))
    } catch {
      throw DocumentError(
        .damaged,
        """
        The file is not valid JSON with the keys of a document. Its store is in the folder Store: \
        restore the file from a backup, or open the store itself.
        """,
        at: path, underlying: error)
    }
    guard format == Self.format else {
      throw DocumentError(
        .notADocument, "The file belongs to another kind of document.", at: path)
    }
  }

  func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(self)) + [10]
  }

  /// Throws if a program can't open the document as a type.
  func check(is type: DocumentType, at path: String) throws(DocumentError) {
    guard self.type == type.identifier else {
      throw DocumentError(
        .otherType,
        "The document is of the type \(printable(self.type)), and not \(type.identifier).",
        at: path)
    }
    guard layoutVersion <= Self.layoutVersion, formatVersion <= type.formatVersion else {
      throw DocumentError(
        .newerVersion, "A newer version of \(type.name) has made the document: update the program.",
        at: path)
    }
  }
}

/// Returns the beginning of a text from a file, without characters that change how it is shown.
func printable(_ text: String, limit: Int = 80) -> String {
  var result = ""
  for scalar in text.unicodeScalars.prefix(limit) {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
      result += "\u{FFFD}"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return text.unicodeScalars.count > limit ? result + "…" : result
}
