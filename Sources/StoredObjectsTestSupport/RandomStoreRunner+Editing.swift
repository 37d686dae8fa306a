import StoredObjectsCore

extension RandomStoreRunner {
  func insertTrack() throws {
    let track = ModelTrack()
    (track.tag, track.title) = (newTag(), text())
    store.insert(track)
    try enter(track, track.tag)
    current.tracks[track.tag] = track.title
  }

  func insertList() throws {
    let list = ModelList()
    (list.tag, list.title) = (newTag(), text())
    if chance(50) { store.insert(list) }
    var value = ModelValues.List(title: list.title)
    for _ in 0..<Int.random(in: 0..<6, using: &random) {
      guard let tag = anyTrack() else { break }
      list.items.append(try track(tag, in: store))
      value.items.append(tag)
    }
    store.insert(list)
    try enter(list, list.tag)
    current.lists[list.tag] = value
  }

  func editTrack() throws {
    guard let tag = anyTrack() else { return }
    let track = try track(tag, in: store)
    track.title = text()
    current.tracks[tag] = track.title
    noteChange(ofTrack: tag)
  }

  func editList() throws {
    guard let tag = anyList() else { return }
    let list = try list(tag, in: store)
    var items = current.lists[tag]?.items ?? []
    switch Int.random(in: 0..<7, using: &random) {
    case 0, 1:
      guard let other = anyTrack() else { return }
      let index = Int.random(in: 0...items.count, using: &random)
      list.items.insert(try track(other, in: store), at: index)
      items.insert(other, at: index)
    case 2:
      guard let index = items.indices.randomElement(using: &random) else { return }
      list.items.remove(at: index)
      items.remove(at: index)
    case 3:
      guard items.count > 1 else { return }
      let (a, b) = (0, Int.random(in: 1..<items.count, using: &random))
      list.items.swapAt(a, b)
      items.swapAt(a, b)
    case 4:
      list.items.reverse()
      items.reverse()
    case 5:
      list.title = text()
      current.lists[tag]?.title = list.title
    default:
      let parent = chance(50) ? anyList() : nil
      let other = parent == nil ? anyTrack() : nil
      list.parent = try parent.map { try self.list($0, in: store) }
      if let other { list.parent = try track(other, in: store) }
      current.lists[tag]?.parent = parent ?? other
    }
    current.lists[tag]?.items = items
    changed.insert(tag)
  }

  /// Removes a track from all lists, then deletes it.
  func deleteTrack() throws {
    guard let tag = anyTrack() else { return }
    let track = try track(tag, in: store)
    try removeReferences(to: tag)
    store.delete(track)
    current.tracks[tag] = nil
    noteChange(ofTrack: tag)
  }

  private func removeReferences(to tag: UInt64) throws {
    for (other, value) in current.lists {
      guard value.items.contains(tag) || value.parent == tag else { continue }
      let list = try list(other, in: store)
      list.items.removeAll { $0.tag == tag }
      if value.parent == tag { list.parent = nil }
      changed.insert(other)
    }
    current.removeReferences(to: tag)
  }

  func deleteList() throws {
    guard let tag = anyList(), let value = current.lists[tag] else { return }
    try removeReferences(to: tag)
    let list = try list(tag, in: store)
    list.cascades = chance(50)
    // Outdated objects stay outdated as long as they are held.
    var items: [ModelTrack] = []
    if list.cascades {
      for item in Set(value.items) { items.append(try track(item, in: store)) }
      for item in Set(value.items) {
        for (other, value) in current.lists where value.items.contains(item) || value.parent == item
        {
          changed.insert(other)
        }
        current.removeReferences(to: item)
        current.tracks[item] = nil
        noteChange(ofTrack: item)
      }
    }
    store.delete(list)
    try expect(items.allSatisfy(\.isDeleted), "a track is left that should be deleted")
    current.lists[tag] = nil
    changed.insert(tag)
  }

  /// Deletes a track and inserts it again, with or without an edit in between.
  func deleteAndInsert() throws {
    guard let tag = anyTrack() else { return }
    let track = try track(tag, in: store)
    store.delete(track)
    if chance(50) {
      track.title = text()
      current.tracks[tag] = track.title
      noteChange(ofTrack: tag)
    }
    store.insert(track)
  }

  func setName() throws {
    let name = "name \(Int.random(in: 0..<10, using: &random))"
    if chance(25) {
      try store.removeBuffer(named: name)
      if current.names.removeValue(forKey: name) != nil { changedNames.insert(name) }
    } else {
      changedNames.insert(name)
      let value = text()
      try store.setBuffer(named: name) { $0.write(value) }
      var buffer = DataBuffer()
      buffer.write(value)
      current.names[name] = buffer.bytes
    }
  }

  /// Changes and saves during an enumeration, which must visit each track once.
  func enumerateAndEdit() throws {
    let before = Set(current.tracks.keys)
    var visited: Set<UInt64> = []
    var removed: Set<UInt64> = []
    try store.enumerate(ModelTrack.self) { track, stop in
      let tag = track.tag
      try expect(visited.insert(tag).inserted, "track \(tag) is visited twice")
      try expect(!removed.contains(tag), "track \(tag) is visited after it was deleted")
      observe(track)
      try expectEqual(current.tracks[tag], track.title, "a visited track")
      switch Int.random(in: 0..<40, using: &random) {
      case 0: try insertTrack()
      case 1: try editTrack()
      case 2:
        try deleteTrack()
        removed = before.subtracting(current.tracks.keys)
      case 3 where !hasConflicts: try save()
      default: break
      }
    }
    try expect(visited.isSubset(of: before), "a track is visited that came later")
    try expect(
      before.subtracting(removed).isSubset(of: visited), "a track is not visited")
  }

  /// Saves changes with another store on the backend; this store may or may not merge them.
  func secondStore() throws {
    let other = try Self.openStore(backend)
    try saved.expect(in: other, "in a second store")
    let new = ModelTrack()
    (new.tag, new.title) = (newTag(), text())
    other.insert(new)
    try enter(new, new.tag)
    var edits: [(UInt64, String)] = [(new.tag, new.title)]
    for _ in 0..<2 {
      guard let tag = saved.tracks.keys.sorted().randomElement(using: &random) else { break }
      let track = try track(tag, in: other)
      track.title = text()
      edits.append((tag, track.title))
      if changed.contains(tag) { conflicts.insert(tag) }
    }
    if chance(50) { try setName(in: other) }
    try other.saveChanges()
    for (tag, title) in edits {
      saved.tracks[tag] = title
      if tag == new.tag { current.tracks[tag] = title }
      if tag != new.tag, !changed.contains(tag) { unmerged[tag, default: []].append(title) }
    }
    if chance(30) {
      store.mergeChanges()
      didMerge()
    }
    try expectCurrent("after a second store's save")
  }

  private func setName(in other: Store) throws {
    let name = "name \(Int.random(in: 0..<10, using: &random))"
    let value = text()
    try other.setBuffer(named: name) { $0.write(value) }
    var buffer = DataBuffer()
    buffer.write(value)
    saved.names[name] = buffer.bytes
    if changedNames.contains(name) {
      nameConflicts.insert(name)
    } else {
      current.names[name] = buffer.bytes
    }
  }
}
