/// A set of unique Swift identifiers.
package struct SwiftNames {
  private var taken: Set<String>

  /// Creates a set with reserved names.
  init(reserved: Set<String>) { taken = reserved }

  /// Returns an identifier similar to a text, with a number if others already have it.
  mutating func add(_ text: String) -> String {
    let base = Self.isIdentifier(text) ? text : Self.identifier(text)
    var (name, number) = (base, 1)
    while !taken.insert(name).inserted {
      number += 1
      name = "\(base)\(number)"
    }
    return name
  }

  /// Whether a text can be an identifier, possibly in backticks.
  package static func isIdentifier(_ text: String) -> Bool {
    guard let first = text.first, text != "_" else { return false }
    return !first.isNumber && text.allSatisfy(isPart)
  }

  private static func isPart(_ character: Character) -> Bool {
    character == "_" || character.isLetter || (character.isASCII && character.isNumber)
  }

  private static func identifier(_ text: String) -> String {
    let letters = String(text.map { isPart($0) ? $0 : "_" })
    return isIdentifier(letters) ? letters : "_" + letters + (letters.count < 2 ? "_" : "")
  }

  /// Returns a member's name, in backticks if it is a keyword.
  static func member(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// Returns a text as a literal of one line.
  package static func literal(_ text: String) -> String {
    let characters = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\\", "\"": "\\\(scalar)"
      case "\n": "\\n"
      case "\t": "\\t"
      default:
        scalar.properties.isPatternWhitespace && scalar != " "
          || [.control, .format].contains(scalar.properties.generalCategory)
          ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
      }
    }
    return "\"\(characters.joined())\""
  }

  /// The words that need backticks to be names.
  static let keywords: Set = [
    "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class",
    "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough",
    "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout",
    "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
    "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch",
    "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]

  /// The types that Swift source of a model uses, which no type of the model may hide.
  static let types = keywords.union([
    "Array", "AttributeIndex", "Bool", "CaseIterable", "ClassLayout", "Codable", "Data",
    "DataBuffer", "DataBufferError", "DataBufferValue", "Date", "Decimal", "Dictionary", "Double",
    "ExternalData", "Float", "Formerly", "FullText", "FullTextAttribute", "Hashable",
    "IndexableValue", "Indexed", "Int", "Int8", "Int16", "Int32", "Int64", "Optional",
    "RawRepresentable", "Relationship", "Set", "Stored", "StoredObject", "StoredProperty",
    "StoredType", "String", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "URL", "UUID",
  ])

  /// The members of every enumeration, which no case may have the name of.
  static let enumerationMembers: Set = [
    "AllCases", "RawValue", "allCases", "formerCaseNames", "minimumByteCount", "storedType",
  ]

  /// The members of every stored object, which no property may have the name of.
  static let objectMembers: Set = [
    "checkForContent", "didModify", "dissolveAllRelationships", "fetchContent", "hasContent",
    "hasUnsavedChanges", "hash", "hashValue", "id", "isDeleted", "isPlain", "isReadable",
    "prepareForDelete", "readContent", "rowID", "state", "store", "willChange", "willModify",
    "willRead", "willUpdate", "writeContent",
  ]
}
