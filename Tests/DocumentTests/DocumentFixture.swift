import Files
import Foundation
import StoreFormats
import StoredObjectsCore
import StoredObjectsDocuments
import TestFiles
import TestedBackends

/// A figure of a drawing.
final class Shape: StoredObject {
  @Content var name = ""
  @Content var size: UInt32 = 0

  convenience init(_ name: String, _ size: UInt32 = 1) {
    self.init()
    (self.name, self.size) = (name, size)
  }

  override class var layout: ClassLayout? {
    ClassLayout(
      Shape.self, [StoredProperty("name", String.self), StoredProperty("size", UInt32.self)])
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    size = try buffer.readUInt32()
  }

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(size)
  }
}

/// A class whose name is that of a file of a document.
final class Preview: StoredObject {
  override class var storedName: String { "Document.json" }
  override func readContent(from buffer: inout DataBuffer) throws {}
  override func writeContent(to buffer: inout DataBuffer) {}
}

/// A folder for documents, and the type of these.
struct Desk: Sendable {
  let folder: String
  let type: DocumentType
  let kind: TestedBackend

  var key: (any StoreKey)? { kind.key }
  var drafts: String { folder + "/drafts" }

  /// Creates the type for a folder.
  init(
    _ folder: String, _ kind: TestedBackend = .tokyoCabinet,
    in fileSystem: any FileSystem = SystemFiles.shared, versions: Bool = true
  ) {
    var type = DocumentType(
      "Sketch", identifier: "org.example.Sketch", fileExtension: "sketch",
      mimeType: "application/x-example-sketch", classes: [Shape.self, Preview.self]
    ) { (directory, access, key) throws(StoreError) in
      guard let format = kind.format else { throw StoreError(.ioError, "no format") }
      return try format.open(directory, access: access, key: key, in: fileSystem)
    }
    type.draftsFolder = folder + "/drafts"
    type.fileSystem = fileSystem
    type.keepsVersions = versions
    (self.folder, self.type, self.kind) = (folder, type, kind)
  }

  func path(_ name: String) -> String { folder + "/" + name }

  func open(_ name: String, _ access: DocumentAccess = .editing) throws -> StoredDocument {
    try StoredDocument(opening: path(name), as: type, access: access, key: key)
  }

  func make(_ name: String, _ shapes: [String] = []) throws -> StoredDocument {
    let document = try StoredDocument(creating: path(name), as: type, key: key)
    document.insert(shapes)
    try document.save()
    return document
  }

  /// Returns the names of the shapes of a document that is saved, in their order.
  func shapes(_ name: String) throws -> [String] {
    let document = try open(name, .reading)
    return try document.shapes()
  }

  /// The visible and hidden names in the folder, without the drafts.
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "drafts" }.sorted()
  }

  /// The names of hidden files of documents, which only a crash leaves.
  func leftovers(in folder: String? = nil) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder ?? self.folder)
      .filter { $0.hasPrefix(".stored-document") }
  }

  /// Whether a folder is on another file system, as usual for one on the disk.
  func isElsewhere(_ path: String) throws -> Bool {
    try FileStatus.find(path)?.identity.device != FileStatus.find(folder)?.identity.device
  }

  /// Runs a test with an empty folder in memory, where nothing waits for a disk.
  static func with<Result: Sendable>(
    _ kind: TestedBackend = .tokyoCabinet, versions: Bool = true,
    _ body: @Sendable (Desk) async throws -> Result
  ) async throws -> Result {
    try await withTemporaryDirectory(in: .memory) { folder in
      try await body(Desk(realPath(folder), kind, versions: versions))
    }
  }
}

extension StoredDocument {
  func insert(_ names: [String]) {
    for name in names { store.insert(Shape(name)) }
  }

  func shapes() throws -> [String] {
    try store.allObjects(of: Shape.self).sorted { $0.rowID < $1.rowID }.map(\.name)
  }

  func shape(_ name: String) throws -> Shape? {
    try store.allObjects(of: Shape.self).first { $0.name == name }
  }
}

/// Returns the code of the error of a closure; nil if there is none.
func code<Result>(_ body: () throws -> Result) -> DocumentError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? DocumentError)?.code
  }
}

/// Returns the code of the error of an async closure; nil if there is none.
func asyncCode(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
) async -> DocumentError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? DocumentError)?.code
  }
}

func write(_ text: String, to path: String) throws {
  try Data(text.utf8).write(to: URL(filePath: path))
}

func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
