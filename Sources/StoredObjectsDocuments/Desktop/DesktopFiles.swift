import Files
import FoundationEssentials

/// The files with which a freedesktop system knows a type of document and its program.
///
///     let files = DesktopFiles(for: .sketch, program: "/usr/bin/sketch")
///     try files.install()
///
/// File managers then know the archives of documents by their names and their first bytes, open
/// them with the program, and show their previews. Desktops have no types for folders, so a
/// document that was not exported is shown as a folder, in KDE's file manager under the icon of the
/// type.
///
/// A package of a distribution writes the three texts to the same folders below `/usr/share`.
public struct DesktopFiles: Sendable {
  /// The type of the documents.
  public let type: DocumentType
  /// The path of the program, or its name if it is in the search path.
  public let program: String
  /// The arguments with which the program makes a thumbnail, before those of the system.
  public var thumbnailArguments = ["--thumbnail"]

  /// Creates the files for a type.
  ///
  /// - Parameters:
  ///   - type: The type of the documents.
  ///   - program: The path or the name of the program.
  public init(for type: DocumentType, program: String) {
    (self.type, self.program) = (type, program)
  }

  /// The name and the patterns of the MIME type, for `mime/packages/<identifier>.xml`.
  public var mimeInfo: String {
    let icon = type.iconName.map { "\n    <icon name=\"\(escaped($0))\"/>" } ?? ""
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
        <mime-type type="\(escaped(type.mimeType))">
          <comment>\(escaped(type.name))</comment>
          <sub-class-of type="application/zip"/>\(icon)
          <magic priority="60">
            <match type="string" value="PK\\003\\004" offset="0">
              <match type="string" value="mimetype" offset="30">
                <match type="string" value="\(escaped(type.mimeType))" offset="38"/>
              </match>
            </match>
          </magic>
          <glob pattern="*.\(escaped(type.fileExtension))"/>
        </mime-type>
      </mime-info>

      """
  }

  /// The entry of the program in menus, for `applications/<identifier>.desktop`.
  public var desktopEntry: String {
    var lines = ["[Desktop Entry]", "Type=Application", "Name=\(value(type.name))"]
    lines.append("Exec=\(command(program)) %F")
    lines.append("MimeType=\(value(type.mimeType));")
    if let icon = type.iconName { lines.append("Icon=\(value(icon))") }
    lines.append("Terminal=false")
    return lines.joined(separator: "\n") + "\n"
  }

  /// The entry of the thumbnailer, for `thumbnailers/<identifier>.thumbnailer`.
  ///
  /// The program gets the path of the document, that of the PNG file to write, and the size. It
  /// passes them to ``Thumbnail/write(of:to:)``.
  public var thumbnailer: String {
    let arguments = ([program] + thumbnailArguments).map(command).joined(separator: " ")
    return """
      [Thumbnailer Entry]
      TryExec=\(value(program))
      Exec=\(arguments) %i %o %s
      MimeType=\(value(type.mimeType));

      """
  }

  /// Writes the files to the folders of the user, or to another data folder.
  ///
  /// Run `update-mime-database <folder>/mime` and `update-desktop-database <folder>/applications`
  /// afterwards, if they are installed. Files with the same names are replaced.
  ///
  /// Complexity: writes three small files, and waits for the disk for each.
  ///
  /// - Parameter dataFolder: The folder; nil for `$XDG_DATA_HOME`, or `~/.local/share`.
  /// - Returns: The paths of the files.
  /// - Throws: ``DocumentError`` with `ioError` or `noSpace`.
  @discardableResult
  public func install(in dataFolder: String? = nil) throws(DocumentError) -> [String] {
    let folder = if let dataFolder { dataFolder } else { try Self.userDataFolder() }
    let files = [
      ("mime/packages", "xml", mimeInfo), ("applications", "desktop", desktopEntry),
      ("thumbnailers", "thumbnailer", thumbnailer),
    ]
    var paths: [String] = []
    for (place, suffix, text) in files {
      let directory = joinedPath(folder, place)
      let name = "\(type.identifier).\(suffix)"
      let handle = try documentErrors(at: directory) {
        try makeDirectories(directory)
        return try DirectoryHandle(directory)
      }
      try replaceFile(name, in: handle, by: Array(text.utf8))
      paths.append(joinedPath(directory, name))
    }
    return paths
  }

  private static func userDataFolder() throws(DocumentError) -> String {
    let environment = ProcessInfo.processInfo.environment
    if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data }
    guard let home = environment["HOME"], home.hasPrefix("/") else {
      throw DocumentError(
        .ioError, "There is neither XDG_DATA_HOME nor HOME: name the data folder.", at: "")
    }
    return home + "/.local/share"
  }

  /// Returns a string value of a desktop entry.
  private func value(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Returns one word of a command line, quoted by the rules of desktop entries.
  private func command(_ word: String) -> String {
    var quoted = ""
    for scalar in word.unicodeScalars {
      switch scalar {
      case "\"", "`", "$", "\\": quoted += "\\\(scalar)"
      case "%": quoted += "%%"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    let isPlain = word.utf8.allSatisfy { byte in
      let letter = byte | 0x20
      return (97...122).contains(letter) || (45...57).contains(byte) || byte == 95 || byte == 37
    }
    return value(isPlain && !word.isEmpty ? quoted : "\"\(quoted)\"")
  }
}

extension DocumentType {
  /// The file with which KDE's file manager shows a document under its icon; nil without an icon.
  var folderFile: [UInt8]? {
    guard let iconName else { return nil }
    let icon = printable(iconName, limit: 200)
    return Array("[Desktop Entry]\nIcon=\(icon)\n".utf8)
  }
}
