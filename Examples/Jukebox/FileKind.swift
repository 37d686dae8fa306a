import Foundation

/// The kind of file at a path, after symbolic links.
enum FileKind {
  case missing, file, directory

  init(at path: String) {
    var isDirectory: ObjCBool = false
    let exists = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
    self = !exists ? .missing : isDirectory.boolValue ? .directory : .file
  }
}
