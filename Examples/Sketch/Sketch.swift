#if Macros
  import Foundation
  import StoredObjects
  import StoredObjectsDocuments

  @Stored final class Circle: StoredObject {
    var name = ""
    var x = 0
    var y = 0
    var radius = 0
  }

  extension DocumentType {
    static let sketch = {
      var type = DocumentType(
        "Sketch", identifier: "org.example.Sketch", fileExtension: "sketch",
        mimeType: "application/x-example-sketch", classes: [Circle.self],
        backend: TokyoCabinetBackend.self)
      type.makePreview = { store, type, title in
        var preview = try DocumentPreview.summary(of: store, as: type, title: title)
        preview.svg = try Drawing(store).svg
        return preview
      }
      return type
    }()
  }

  /// The picture of a sketch.
  struct Drawing {
    private var circles: [Circle]

    init(_ store: Store) throws {
      // A preview shows the first objects of a large document.
      circles = Array(try store.allObjects(of: Circle.self).prefix(1000))
    }

    var svg: String {
      let shapes = circles.map { circle in
        "  <circle cx=\"\(circle.x)\" cy=\"\(circle.y)\" r=\"\(max(0, circle.radius))\"/>\n"
      }
      return """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 256 256" fill="none" stroke="#2e3436">
        \(shapes.joined())</svg>

        """
    }
  }

  @main struct Sketch {
    static let usage = """
      usage: sketch new DOCUMENT
             sketch add DOCUMENT NAME X Y RADIUS
             sketch list DOCUMENT [VERSION]
             sketch versions DOCUMENT
             sketch revert DOCUMENT VERSION
             sketch save-as DOCUMENT NEW-DOCUMENT
             sketch export DOCUMENT ARCHIVE
             sketch import ARCHIVE DOCUMENT
             sketch --thumbnail DOCUMENT PNG [SIZE]
             sketch install PROGRAM [DATA-FOLDER]
      """

    static func main() async {
      do {
        try await run(Array(CommandLine.arguments.dropFirst()))
      } catch let error as Usage {
        exit(error.description, status: 64)
      } catch {
        exit("sketch: \(error)", status: 1)
      }
    }

    private static func run(_ arguments: [String]) async throws {
      guard let command = arguments.first else { throw Usage() }
      let rest = Array(arguments.dropFirst())
      switch (command, rest.count) {
      case ("new", 1):
        let document = try StoredDocument(creating: rest[0], as: .sketch)
        try document.save()
        try await document.close()
      case ("add", 5): try await edit(rest[0]) { try add(rest, to: $0) }
      case ("list", 1...2): try await list(rest)
      case ("versions", 1): try await versions(of: rest[0])
      case ("revert", 2):
        try await edit(rest[0]) { try $0.revert(to: version(rest[1], of: $0)) }
      case ("save-as", 2): try await edit(rest[0]) { try await $0.save(as: rest[1]) }
      case ("export", 2): try await edit(rest[0]) { try await $0.export(to: rest[1]) }
      case ("import", 2):
        try await StoredDocument.importArchive(rest[0], to: rest[1], as: .sketch)
      case ("--thumbnail", 2...3): try Thumbnail.write(of: rest[0], to: rest[1])
      case ("install", 1...2):
        let files = DesktopFiles(for: .sketch, program: rest[0])
        for path in try files.install(in: rest.count > 1 ? rest[1] : nil) { print(path) }
      default: throw Usage()
      }
    }

    /// Opens a document, changes and saves it.
    private static func edit(
      _ path: String, _ body: (StoredDocument) async throws -> Void
    ) async throws {
      let document = try StoredDocument(opening: path, as: .sketch)
      try await body(document)
      try await document.close(.saving)
    }

    private static func add(_ arguments: [String], to document: StoredDocument) throws {
      let numbers = arguments[2...].compactMap { Int($0) }
      guard numbers.count == 3 else { throw Usage() }
      let circle = Circle()
      circle.name = arguments[1]
      (circle.x, circle.y, circle.radius) = (numbers[0], numbers[1], numbers[2])
      document.store.insert(circle)
    }

    private static func list(_ arguments: [String]) async throws {
      // Another program may be editing the document.
      let document = try StoredDocument(opening: arguments[0], as: .sketch, access: .reading)
      var store = document.store
      if arguments.count > 1 {
        store = try document.snapshot(of: version(arguments[1], of: document)).makeStore()
      }
      for circle in try store.allObjects(of: Circle.self) {
        print("\(circle.name) \(circle.x) \(circle.y) \(circle.radius)")
      }
      try await document.close()
    }

    private static func versions(of path: String) async throws {
      let document = try StoredDocument(opening: path, as: .sketch, access: .reading)
      for (index, version) in document.versions.enumerated() {
        print("\(index + 1) \(version.date.formatted(.iso8601))")
      }
      try await document.close()
    }

    private static func version(
      _ text: String, of document: StoredDocument
    ) throws -> DocumentVersion {
      guard let number = Int(text), document.versions.indices.contains(number - 1) else {
        throw Failure(description: "There is no version \(text): see sketch versions.")
      }
      return document.versions[number - 1]
    }

    private static func exit(_ message: String, status: Int32) -> Never {
      FileHandle.standardError.write(Data((message + "\n").utf8))
      Foundation.exit(status)
    }
  }

  private struct Usage: Error {
    let description = Sketch.usage
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }
#else
  @main struct Sketch {
    static func main() { print("Build this example with the trait Macros.") }
  }
#endif
