import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends

/// A store with a history, and its content after each commit.
struct RememberedStore {
  private(set) var backend: any StoreBackend
  private(set) var images: [UInt64: StoreImage] = [:]
  private let seed: UInt64
  private var number = 0

  init(_ backend: any StoreBackend, seed: UInt64) throws {
    (self.backend, self.seed) = (backend, seed)
    for _ in 0..<4 { try save() }
    try backend.beginHistory()
    images = [backend.lastCommitNumber: try Self.image(of: backend)]
  }

  /// Commits the next scripted save.
  mutating func save() throws {
    number += 1
    try ScriptedSave(number, seed: seed, largeByteCount: 3000).commit(to: backend)
  }

  /// Commits saves, and keeps an image of each.
  mutating func saveWithImages(_ count: Int) throws {
    for _ in 0..<count {
      try save()
      images[backend.lastCommitNumber] = try Self.image(of: backend)
    }
  }

  /// Returns the content of a store with its history, but without its position as a follower.
  static func image(of backend: any StoreBackend) throws -> StoreImage {
    var image = try StoreImage(of: backend)
    image.set([0], to: nil, in: OrderedTableName("Following", kind: .data))
    return image
  }

  /// Returns the content of a store without its history.
  static func content(of image: StoreImage) -> StoreImage {
    var content = image
    let history = OrderedTableName("CommitHistory", kind: .data)
    for key in image.keys["\(history)"]?.keys.map({ $0 }) ?? [] {
      content.set(key, to: nil, in: history)
    }
    return content
  }
}

/// A stream that keeps bytes up to a limit and then fails like a network.
struct CutStream {
  let limit: Int
  private(set) var bytes: [UInt8] = []

  init(limit: Int) { self.limit = limit }

  mutating func write(_ part: [UInt8]) throws(StoreError) {
    bytes += part.prefix(limit - bytes.count)
    if bytes.count == limit { throw StoreError(.ioError, "The network is gone.") }
  }
}
