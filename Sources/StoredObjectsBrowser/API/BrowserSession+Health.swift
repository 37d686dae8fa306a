import Dispatch
import Foundation
import Locks
import RecordBrowsing
import StoreEngine
import StoredObjectsCore

/// The numbers of a store over the last minutes.
struct LiveSamples: Sendable {
  struct Sample: Sendable {
    let time: Double
    let commit: UInt64
    let objects: Int
    let bytes: Int
    /// The saves and look-ups of programs so far; nil if none is known.
    let activity: StoreActivity?
  }

  private(set) var samples: [Sample] = []
  private static let limit = 600

  mutating func add(_ sample: Sample) {
    if let last = samples.last, sample.time - last.time < 0.9 { return }
    samples.append(sample)
    if samples.count > Self.limit { samples.removeFirst() }
  }

  /// The saves and look-ups of programs in the last minute; nil if none is known.
  var activityOfLastMinute: StoreActivity? {
    guard let last = samples.last, let activity = last.activity else { return nil }
    let first = samples.first { $0.time > last.time - 60 }
    return first?.activity.map(activity.since) ?? activity
  }
}

extension BrowserSession {
  /// Returns the numbers of the store now, and over the last minutes.
  func live() throws -> StoredValue {
    let state = try source.state()
    let now = Date().timeIntervalSince1970
    let bytes = state.classes.reduce(0) { $0 + (state.fileSize(of: $1) ?? 0) }
    let objects = state.classes.reduce(0) { $0 + $1.objectCount }
    let activity = state.activity
    let (all, latest) = samples.withLock { samples in
      samples.add(
        .init(time: now, commit: state.number, objects: objects, bytes: bytes, activity: activity))
      return (samples.samples, samples.activityOfLastMinute)
    }
    let titles = editor?.titles
    return JSONView.dictionary([
      ("commit", JSONView.number(Int(state.number))), ("objects", JSONView.number(objects)),
      ("bytes", JSONView.number(bytes)), ("saves", (latest?.saves).map(JSONView.saves)),
      ("lookUps", (latest?.lookUps).map(JSONView.lookUps)),
      ("undo", (titles?.undo).map { .string($0) }), ("redo", (titles?.redo).map { .string($0) }),
      (
        "samples",
        JSONView.list(
          all.map { sample in
            JSONView.list([
              .double((sample.time * 10).rounded() / 10), JSONView.number(Int(sample.commit)),
              JSONView.number(sample.objects), JSONView.number(sample.bytes),
            ])
          })
      ),
    ])
  }

  /// Returns the files, the log, the indexes, and the result of the last check.
  func health(_ call: APICall) throws -> StoredValue {
    let state = try source.state()
    let backend = state.backend as? any DirectoryBackend
    let log = try backend?.logState()
    let tables = try backend?.orderedTableStates() ?? []
    return JSONView.dictionary([
      ("location", .string(state.backend.location)), ("format", .string(options.format)),
      ("commit", JSONView.number(Int(state.number))),
      ("log", log.map(Self.log)),
      ("tables", JSONView.list(tables.map(Self.table))),
      ("check", check()),
    ])
  }

  private static func log(_ log: CommitLogState) -> StoredValue {
    JSONView.dictionary([
      ("fileBytes", JSONView.number(log.fileSize)),
      ("pendingBytes", JSONView.number(log.pendingCount)),
      ("pendingBatches", JSONView.number(log.pendingBatchCount)),
      ("tornTail", log.tornTailByteCount.map(JSONView.number)),
    ])
  }

  private static func table(_ state: OrderedTableState) -> StoredValue {
    JSONView.dictionary([
      ("name", .string(state.name.name)), ("kind", .string(state.name.kind.rawValue)),
      ("keys", state.keyCount.map(JSONView.number)), ("bytes", JSONView.number(state.fileBytes)),
      ("condition", .string(state.condition.rawValue)),
    ])
  }

  // MARK: Checking

  private func check() -> StoredValue {
    switch checking.withLock({ $0 }) {
    case .idle: JSONView.dictionary([("state", .string("idle"))])
    case .running: JSONView.dictionary([("state", .string("running"))])
    case .failed(let message):
      JSONView.dictionary([("state", .string("failed")), ("error", .string(message))])
    case .done(let check, let time):
      JSONView.dictionary([
        ("state", .string("done")), ("isSound", .bool(check.isSound)),
        ("time", JSONView.time(Date(timeIntervalSince1970: time))),
        ("omitted", JSONView.number(check.omittedCount)),
        ("findings", JSONView.list(check.findings.prefix(200).map { .string("\($0)") })),
      ])
    }
  }

  /// Starts to check the store, if no check is running.
  func startCheck() throws -> StoredValue {
    guard let run = options.check else {
      throw BrowsingError(.invalid, "This store can't be checked from here.")
    }
    let isNew = checking.withLock { checking in
      if case .running = checking { return false }
      checking = .running
      return true
    }
    if isNew {
      DispatchQueue.global(qos: .utility).async { [checking] in
        let result: Checking
        do {
          result = .done(try run(), at: Date().timeIntervalSince1970)
        } catch {
          result = .failed("\(error)")
        }
        checking.withLock { $0 = result }
      }
    }
    return check()
  }
}

extension JSONView {
  /// The number of look-ups, and the share of the objects that were in memory.
  fileprivate static func lookUps(_ lookUps: StoreLookUps) -> StoredValue {
    dictionary([
      ("count", number(lookUps.count)), ("hits", lookUps.hitPercentage.map { .double($0) }),
    ])
  }

  /// The times of saves, in milliseconds.
  fileprivate static func saves(_ saves: SaveTimes) -> StoredValue {
    dictionary([
      ("count", number(Int(clamping: saves.count))),
      ("median", saves.milliseconds(ofShare: 0.5).map { .double($0) }),
      ("slow", saves.milliseconds(ofShare: 0.99).map { .double($0) }),
    ])
  }
}
