/// Pictures and texts of a document that other programs show without opening it.
///
/// They are files in the folder `Preview` of a document. A preview is as the document was when it
/// was last saved, or a moment before.
public struct DocumentPreview: Sendable, Hashable {
  /// A picture as SVG.
  public var svg: String?
  /// A picture as PNG, at most 4,096 pixels wide and high.
  ///
  /// Thumbnails of file managers are made of it.
  public var png: [UInt8]?
  /// A summary as an HTML page without scripts and external files.
  public var html: String?
  /// The words of the document, for the indexers of desktops.
  public var text: String?

  /// Creates a preview of the given parts.
  public init(
    svg: String? = nil, png: [UInt8]? = nil, html: String? = nil, text: String? = nil
  ) {
    (self.svg, self.png, self.html, self.text) = (svg, png, html, text)
  }

  /// The names of the files.
  enum File: String, CaseIterable {
    case svg = "preview.svg"
    case png = "preview.png"
    case html = "preview.html"
    case text = "Text.txt"
  }

  static let fileNames = File.allCases.map(\.rawValue)

  func bytes(of file: File) -> [UInt8]? {
    switch file {
    case .svg: svg.map { Array($0.utf8) }
    case .png: png
    case .html: html.map { Array($0.utf8) }
    case .text: text.map { Array($0.utf8) }
    }
  }

  mutating func set(_ file: File, to bytes: [UInt8]) {
    switch file {
    case .svg: svg = String(decoding: bytes, as: UTF8.self)
    case .png: png = bytes
    case .html: html = String(decoding: bytes, as: UTF8.self)
    case .text: text = String(decoding: bytes, as: UTF8.self)
    }
  }
}
