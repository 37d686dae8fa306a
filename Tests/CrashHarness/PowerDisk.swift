import Foundation

/// The durable and the possible content of the disk as a trace proceeds.
///
/// After a power failure, an unsynced file has a random mix of old and new sectors, and any of the
/// sizes it has had. An unsynced directory has any of its new names. In the part by which a file
/// has grown, an unwritten sector is zero.
struct PowerDisk {
  private struct FileState {
    /// The durable content.
    var durable: [UInt8] = []
    /// The contents that have been seen since.
    var versions: [[UInt8]] = []
  }

  private enum NameChange {
    case link(String, UInt64)
    case rename(String, String)
    /// An atomic exchange of both names, with the files they lead to from then on.
    case exchange([String: UInt64])
    case remove(String)
  }

  private var files: [UInt64: FileState] = [:]
  private var names: [String: UInt64] = [:]
  private var durableNames: [String: UInt64] = [:]
  private var changes: [NameChange] = []
  private var last: PowerTrace.Event?

  /// Creates a disk on which the whole directory is durable.
  init(_ first: PowerTrace.Event) {
    for file in first.files {
      files[file.inode] = FileState(durable: file.content)
      names[file.name] = file.inode
    }
    durableNames = names
  }

  /// Performs the previous event, and observes the state before this one.
  mutating func advance(to event: PowerTrace.Event) {
    if let last { perform(last) }
    last = event
    let now = Dictionary(event.files.map { ($0.name, $0.inode) }) { $1 }
    for (name, inode) in now where names[name] != inode { changes.append(.link(name, inode)) }
    for name in names.keys where now[name] == nil { changes.append(.remove(name)) }
    names = now
    for file in event.files { note(file) }
    // Each sector of a durable write may be on the disk before the write returns.
    if let (offset, bytes) = event.written, var state = files[event.inode] {
      state.versions.append((state.versions.last ?? state.durable).replacing(offset, bytes))
      files[event.inode] = state
    }
    // A file without a name is removed, and its inode number may be reused soon.
    let living = Set(names.values).union(durableNames.values)
    files = files.filter { living.contains($0.key) }
  }

  private mutating func note(_ file: PowerTrace.File) {
    var state = files[file.inode] ?? FileState()
    if file.content != state.versions.last ?? state.durable { state.versions.append(file.content) }
    files[file.inode] = state
  }

  /// Performs the effect of a call that has returned.
  private mutating func perform(_ event: PowerTrace.Event) {
    switch event.kind {
    case .sync:
      guard let content = event.files.first(where: { $0.inode == event.inode })?.content
      else { return }
      files[event.inode] = FileState(durable: content)
    case .syncDirectory:
      durableNames = Dictionary(event.files.map { ($0.name, $0.inode) }) { $1 }
      changes = []
    case .rename:
      guard let (old, new) = event.names, let inode = names.removeValue(forKey: old) else { return }
      names[new] = inode
      changes.append(.rename(old, new))
    case .exchange:
      guard let (first, second) = event.names, let old = names[first], let new = names[second]
      else { return }
      names.merge([first: new, second: old]) { $1 }
      changes.append(.exchange([first: new, second: old]))
    case .durableWrite:
      guard let (offset, bytes) = event.written, var state = files[event.inode] else { return }
      state.durable = state.durable.replacing(offset, bytes)
      // Content that was written to other places is no more durable than before.
      state.versions = state.versions.map { $0.replacing(offset, bytes) }
      files[event.inode] = state
    case .unlink, .create: break
    }
  }

  /// Returns a directory in a state that is possible after a power failure now.
  func image(using generator: inout some RandomNumberGenerator) -> [String: [UInt8]] {
    var names = durableNames
    let fate = Int.random(in: 0..<6, using: &generator)
    for change in changes {
      let isNew = Bool.random(using: &generator)
      if fate == 0 || fate > 1 && isNew { apply(change, to: &names) }
    }
    return names.mapValues { content($0, &generator) }
  }

  private func apply(_ change: NameChange, to names: inout [String: UInt64]) {
    switch change {
    case .link(let name, let inode): names[name] = inode
    case .remove(let name): names[name] = nil
    case .rename(let old, let new):
      if let inode = names.removeValue(forKey: old) { names[new] = inode }
    case .exchange(let both): names.merge(both) { $1 }
    }
  }

  private func content(
    _ inode: UInt64, _ generator: inout some RandomNumberGenerator
  ) -> [UInt8] {
    guard let file = files[inode] else { return [] }
    guard let newest = file.versions.last else { return file.durable }
    let fate = Int.random(in: 0..<6, using: &generator)
    if fate == 0 { return newest }
    if fate == 1 { return file.durable }
    let all = [file.durable] + file.versions
    let size = all.randomElement(using: &generator)?.count ?? 0
    var image: [UInt8] = []
    for start in stride(from: 0, to: size, by: 512) {
      let source = all.randomElement(using: &generator) ?? []
      let end = min(start + 512, size)
      image += start < source.count ? source[start..<min(end, source.count)] : []
      image += [UInt8](repeating: 0, count: end - image.count)
    }
    return image
  }
}

extension [UInt8] {
  /// Returns these bytes with some of them replaced, possibly after the end.
  fileprivate func replacing(_ offset: Int, _ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result = self
    let end = offset + bytes.count
    if result.count < end { result += [UInt8](repeating: 0, count: end - result.count) }
    result.replaceSubrange(offset..<end, with: bytes)
    return result
  }
}
