import Foundation

extension Prose {
  /// The comments of all sources and scripts.
  static let comments: [Paragraph] = files.flatMap { path in
    switch path.split(separator: ".").last {
    case "swift", "h", "c", "js": comments(of: lines(path), path, marks: ["//"])
    case "yml": comments(of: lines(path), path, marks: ["#"])
    default: scripts.contains(path) ? comments(of: lines(path), path, marks: ["#"]) : []
    }
  }

  /// The pages of the documentation, and those for readers of the repository.
  static let pages: [Paragraph] = files.filter { $0.hasSuffix(".md") }.flatMap { path in
    paragraphs(of: lines(path), path, codeIndentation: 4)
  }

  /// The texts in quotes in the libraries, tools and examples: messages and help.
  static let messages: [Paragraph] = files.filter { path in
    path.hasSuffix(".swift") && !path.hasPrefix("Tests/") && !path.hasPrefix("SpeedTests/")
  }.flatMap { path in messages(of: lines(path), path) }

  private static let scripts = ["dev", ".ci/run", "Dockerfile"]

  private static func lines(_ path: String) -> [String] {
    let text = try? String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
    return text?.components(separatedBy: "\n") ?? []
  }

  /// The paths of all files of the repository that may have texts, without builds and checkouts.
  private static let files: [String] = {
    let root = Repository.root
    let top = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
    let below = ["Sources", "Examples", "SpeedTests", "Tests", ".github"].flatMap { folder in
      filesBelow(root.appending(path: folder))
    }
    return (top + below + [".ci/run"]).sorted()
  }()

  private static func filesBelow(_ folder: URL) -> [String] {
    let files = FileManager.default.enumerator(
      at: folder, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    let depth = Repository.root.pathComponents.count { $0 != "/" }
    return (files?.allObjects as? [URL] ?? []).map { file in
      file.pathComponents.filter { $0 != "/" }.dropFirst(depth).joined(separator: "/")
    }
  }
}
