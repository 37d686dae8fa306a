import CDBBackend
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing
import TokyoCabinetBackend

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@Suite("Permissions of the files of a store")
struct FileRightsTests {
  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }

  private func setMode(_ mode: Int, _ path: String) throws {
    try #require(unsafe chmod(path, mode_t(mode)) == 0)
  }

  /// Makes a store, and gives its directory and its files these permissions.
  private func withStore(
    _ kind: TestedBackend, directory: Int, files: Int, _ body: (String) throws -> Void
  ) throws {
    try withTemporaryDirectory { parent in
      let path = parent + "/Music"
      _ = try kind.makeStore(path)
      for name in try FileManager.default.contentsOfDirectory(atPath: path) {
        try setMode(files, path + "/" + name)
      }
      try setMode(directory, path)
      try body(path)
    }
  }

  /// The permissions of a directory and of its files.
  private func modes(_ path: String) throws -> Set<Int> {
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    return Set(try names.map { try mode(path + "/" + $0) })
  }

  @Test(
    "A private store stays private: after folds, new files, compact, backup, salvage, conversion",
    arguments: TestedBackend.onDisk)
  func isPrivate(_ kind: TestedBackend) throws {
    try withStore(kind, directory: 0o700, files: 0o600) { path in
      let backend = try kind.open(path)
      try kind.write(2, to: backend)
      try backend.checkpoint()
      #expect(try modes(path) == [0o600])
      _ = try backend.compact { _ in }
      try kind.write(3, to: backend)
      try backend.backup(to: path + ".copy") { _ in }
      try backend.close()
      try kind.salvage(path, to: path + ".salvaged")
      try kind.convert(path)
      for target in [path, path + ".copy", path + ".salvaged"] {
        #expect(try mode(target) == 0o700)
        #expect(try modes(target) == [0o600])
      }
      #expect(try kind.converted.image(path) == kind.image(path + ".copy"))
    }
  }

  @Test(
    "Access of a group is kept, and others get none", arguments: TestedBackend.onDisk)
  func group(_ kind: TestedBackend) throws {
    try withStore(kind, directory: 0o2750, files: 0o640) { path in
      let backend = try kind.open(path)
      try kind.write(2, to: backend)
      try backend.backup(to: path + ".copy") { _ in }
      try backend.close()
      try kind.convert(path)
      for target in [path, path + ".copy"] {
        #expect(try mode(target) & 0o777 == 0o750)
        // A key that is new is for its owner only.
        let key = target + "/Commit.key"
        let isNewKey = target == path && !kind.isEncrypted
        if FileManager.default.fileExists(atPath: key) {
          #expect(try mode(key) == (isNewKey ? 0o600 : 0o640))
          try setMode(0o640, key)
        }
        #expect(try modes(target) == [0o640])
      }
    }
  }

  @Test("A new store in a private directory is private", arguments: TestedBackend.onDisk)
  func newStore(_ kind: TestedBackend) throws {
    try withTemporaryDirectory { parent in
      for (directory, files) in [(0o700, 0o600), (0o755, 0o644)] {
        let path = parent + "/\(directory)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try setMode(directory, path)
        _ = try kind.makeStore(path)
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
          #expect(
            try mode(path + "/" + name) == (name == "Commit.key" ? 0o600 : files), "\(name)")
        }
      }
    }
  }

  @Test("A key file that was readable by all is private after it is written again")
  func keys() throws {
    try withStore(.encryptedTokyoCabinet, directory: 0o755, files: 0o644) { path in
      try setMode(0o644, path + "/Commit.key")
      try TestedBackend.encryptedTokyoCabinet.open(path).backup(to: path + ".copy") { _ in }
      #expect(try mode(path + ".copy/Commit.key") == 0o600)
      try TokyoCabinetBackend.changeKey(
        directory: path, from: TestedBackend.key, to: TestedBackend.key)
      #expect(try mode(path + "/Commit.key") == 0o600)
      #expect(try mode(path + "/Commit.log") == 0o644)
    }
  }

  @Test(
    "Files that root rewrites keep their owner", .enabled(if: getuid() == 0),
    arguments: TestedBackend.onDisk)
  func owner(_ kind: TestedBackend) throws {
    try withStore(kind, directory: 0o700, files: 0o600) { path in
      let files = try FileManager.default.contentsOfDirectory(atPath: path).map { path + "/" + $0 }
      for file in files + [path] {
        try #require(unsafe chown(file, 1234, 4321) == 0)
      }
      let backend = try kind.open(path)
      try kind.write(2, to: backend)
      try backend.checkpoint()
      try backend.backup(to: path + ".copy") { _ in }
      try backend.close()
      for target in [path, path + ".copy"] {
        let names = try FileManager.default.contentsOfDirectory(atPath: target)
        for file in names.map({ target + "/" + $0 }) + [target] {
          let attributes = try FileManager.default.attributesOfItem(atPath: file)
          #expect((attributes[.ownerAccountID] as? NSNumber)?.intValue == 1234, "\(file)")
          #expect((attributes[.groupOwnerAccountID] as? NSNumber)?.intValue == 4321, "\(file)")
        }
      }
    }
  }

  @Test("A link with the name of a temporary file is not followed", arguments: TestedBackend.onDisk)
  func links(_ kind: TestedBackend) throws {
    try withStore(kind, directory: 0o755, files: 0o644) { path in
      let victim = path + ".victim"
      let backend = try kind.open(path)
      let names = ["0", "1", "2", "3", "manifest", "key", "ordered-0"].map { ".new." + $0 }
      for (index, content) in [Data([1, 2, 3]), nil].enumerated() {
        try content?.write(to: URL(filePath: victim))
        for name in names {
          try? FileManager.default.removeItem(atPath: path + "/" + name)
          try FileManager.default.createSymbolicLink(
            atPath: path + "/" + name, withDestinationPath: victim)
        }
        try kind.write(UInt8(2 + index), to: backend)
        try backend.checkpoint()
        #expect(FileManager.default.contents(atPath: victim) == content)
        try? FileManager.default.removeItem(atPath: victim)
      }
      let image = try StoreImage(of: backend)
      try backend.close()
      #expect(try kind.image(path) == image)
    }
  }
}
