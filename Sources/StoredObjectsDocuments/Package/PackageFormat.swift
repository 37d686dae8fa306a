/// The names in a document, which is a directory.
///
///     Ship.sketch/
///       Document.json     the type and its version
///       Versions.json     the commits of the saves
///       Editor.json       the process that edits the document, while it does
///       Preview/          preview.svg, preview.png, preview.html, Text.txt
///       Store/            the store
///
/// The store has a directory of its own, because a class can have any of the other names.
enum PackageFormat {
  static let manifest = "Document.json"
  static let versions = "Versions.json"
  static let editor = "Editor.json"
  static let previews = "Preview"
  static let store = "Store"
  /// The file with which some file managers show the folder under its icon.
  static let folderFile = ".directory"
  /// The name of an empty file in each directory that is being written, or is to be removed.
  static let partialMarker = ".partial"
  /// The prefix of hidden files and directories that are being written.
  ///
  /// Each is locked by its writer. Those that are not locked are leftovers of a crash.
  static let partialPrefix = ".stored-document-partial-"

  /// The maximum size in bytes of each file that is read as a whole.
  static let maximumManifestSize = 1 << 16
  static let maximumVersionsSize = 8 << 20
  static let maximumPreviewSize = 16 << 20

  static var newPartialName: String { partialPrefix + hexadecimal(UInt32.random(in: 0 ... .max)) }

  /// Returns a number as eight hexadecimal digits.
  static func hexadecimal(_ number: UInt32) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}
