import StoredObjectsCore

/// A class of the model-based test: a track, which ordered lists refer to.
final class ModelTrack: StoredObject {
  @Content var tag: UInt64 = 0
  @Content var title = ""

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(tag)
    buffer.write(title)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    tag = try buffer.readUInt64()
    title = try buffer.readString()
  }
}

final class ModelList: StoredObject {
  @Content var tag: UInt64 = 0
  @Content var title = ""
  @Content var items: [ModelTrack] = []
  @Content var parent: StoredObject?
  /// Whether deleting the list deletes its tracks, after removing them from all other lists.
  var cascades = false

  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(tag)
    buffer.write(title)
    buffer.write(items)
    buffer.writeAny(parent)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    tag = try buffer.readUInt64()
    title = try buffer.readString()
    items = try buffer.readObjects(of: ModelTrack.self)
    parent = try buffer.readAnyObject()
  }
  override func prepareForDelete() {
    guard cascades, let store else { return }
    let tracks = Set(items)
    let lists = (try? store.allObjects(of: ModelList.self)) ?? []
    for list in lists where list.items.contains(where: tracks.contains) {
      list.items.removeAll(where: tracks.contains)
    }
    for list in lists {
      if let track = list.parent as? ModelTrack, tracks.contains(track) { list.parent = nil }
    }
    for track in tracks { store.delete(track) }
  }
  override func dissolveAllRelationships() { (items, parent) = ([], nil) }
}

/// The expected content of a store, as plain values.
struct ModelValues: Equatable {
  struct List: Equatable {
    var title = ""
    var items: [UInt64] = []
    var parent: UInt64?
  }

  var tracks: [UInt64: String] = [:]
  var lists: [UInt64: List] = [:]
  var names: [String: [UInt8]] = [:]

  /// Removes all references to a track.
  mutating func removeReferences(to track: UInt64) {
    for tag in lists.keys {
      lists[tag]?.items.removeAll { $0 == track }
      if lists[tag]?.parent == track { lists[tag]?.parent = nil }
    }
  }

  /// Reads the content of a store, in all ways that exist.
  init(of store: Store) throws {
    for track in try store.allObjects(of: ModelTrack.self) {
      try expect(tracks[track.tag] == nil, "track \(track.tag) is there twice")
      tracks[track.tag] = track.title
    }
    for list in try store.allObjects(of: ModelList.self) {
      try expect(lists[list.tag] == nil, "list \(list.tag) is there twice")
      let parent = (list.parent as? ModelList)?.tag ?? (list.parent as? ModelTrack)?.tag
      lists[list.tag] = List(title: list.title, items: list.items.map(\.tag), parent: parent)
    }
    for name in try store.bufferNames() { names[name] = try store.buffer(named: name)?.bytes }
    try expectEqual(try store.count(of: ModelTrack.self), tracks.count, "count of tracks")
    try expectEqual(try store.count(of: ModelList.self), lists.count, "count of lists")
    var visited: Set<UInt64> = []
    try store.enumerate(ModelTrack.self) { track, _ in
      try expect(visited.insert(track.tag).inserted, "track \(track.tag) is visited twice")
      try expect(tracks[track.tag] != nil, "a visited track is not among all")
    }
    try expectEqual(visited.count, tracks.count, "tracks of an enumeration")
    try expect(store.fetchFailures.isEmpty, "fetch failures: \(store.fetchFailures)")
  }

  init() {}

  /// Compares the values with the content of a store, and reports where they differ.
  ///
  /// New titles are those of tracks that the store may have read after another store saved them.
  func expect(
    in store: Store, _ when: String, orNewTitles newTitles: [UInt64: [String]] = [:]
  ) throws {
    let found = try ModelValues(of: store)
    try expectEqual(found.names, names, "\(when), names")
    try expectEqual(
      found.tracks.keys.sorted(), tracks.keys.sorted(), "\(when), the tracks")
    for (tag, title) in tracks {
      if let new = found.tracks[tag], newTitles[tag]?.contains(new) == true { continue }
      try expectEqual(found.tracks[tag], title, "\(when), track \(tag)")
    }
    try expectEqual(found.lists.keys.sorted(), lists.keys.sorted(), "\(when), the lists")
    for (tag, list) in lists { try expectEqual(found.lists[tag], list, "\(when), list \(tag)") }
  }

  private func expect(_ condition: Bool, _ what: String) throws {
    if !condition { throw ConformanceFailure(what) }
  }
}
