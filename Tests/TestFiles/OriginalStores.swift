import Foundation

/// The folder of stores that the original BNRPersistence wrote; nil if it is missing.
package var originalStores: String? {
  let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL
  return ["../shared/data/bnr", "../../shared/data/bnr"]
    .map { root.appending(path: $0).standardizedFileURL.path }
    .first { FileManager.default.fileExists(atPath: $0) }
}
