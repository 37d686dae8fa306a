import Foundation

/// One file below `Sources`.
struct SourceFile: Sendable {
  /// The path below `Sources`, as in "StoredObjectsCore/Store/Store.swift".
  let path: String
  let lines: [String]

  /// The module, which is the first folder.
  var module: String { String(path.prefix { $0 != "/" }) }

  /// The folder inside the module, or "" for a file that is in none.
  var folder: String {
    let parts = path.split(separator: "/")
    return parts.count > 2 ? String(parts[1]) : ""
  }

  /// The lines without comments.
  var code: [String] {
    lines.map { line in line.range(of: "//").map { String(line[..<$0.lowerBound]) } ?? line }
  }

  /// Whether a word occurs in the code.
  func names(_ word: String) -> Bool {
    code.contains { $0.range(of: #"\b\#(word)\b"#, options: .regularExpression) != nil }
  }

  /// The modules that the file imports.
  var imports: Set<String> {
    Set(code.compactMap { Self.importedModule(in: $0) })
  }

  private static func importedModule(in line: String) -> String? {
    let words = line.split(separator: " ").map(String.init)
    guard let index = words.firstIndex(of: "import"), index + 1 < words.count else { return nil }
    let modifiers: Set = [
      "public", "package", "internal", "fileprivate", "private", "@_exported", "@preconcurrency",
      "@testable", "@_implementationOnly",
    ]
    guard words[..<index].allSatisfy({ modifiers.contains($0) }) else { return nil }
    let kinds: Set = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
    let name = words[index + 1]
    let module = kinds.contains(name) && index + 2 < words.count ? words[index + 2] : name
    return String(module.prefix { $0 != "." })
  }
}

extension SourceFile {
  /// The folder `Sources` of this package.
  private static let root = Repository.root
    .appending(path: "Sources", directoryHint: .isDirectory)

  /// All Swift files of the package, in order of their paths.
  static let all: [SourceFile] = {
    let names = FileManager.default.subpaths(atPath: root.path(percentEncoded: false)) ?? []
    return names.filter { $0.hasSuffix(".swift") }.sorted().map { name in
      let text = try? String(contentsOf: root.appending(path: name), encoding: .utf8)
      return SourceFile(path: name, lines: text?.components(separatedBy: "\n") ?? [])
    }
  }()
}

extension Array where Element == String {
  /// Whether some lines are in this text, one after the other.
  func hasRun(of lines: [String]) -> Bool {
    guard let first = lines.first else { return true }
    return indices.contains { index in
      self[index] == first && self[index...].starts(with: lines)
    }
  }
}
