import Foundation
import Observation
import StoredObjectsCore
import Synchronization
import Testing

/// Results, a copy of them that the list of changes keeps, and what fetching again returns.
protocol LiveMirror: AnyObject {
  /// Begins to wait for a change.
  func watch()
  /// Compares all of them.
  ///
  /// - Parameter isComplete: Whether the results are what is found now: not before a merge.
  /// - Throws: An error of the store.
  func check(isComplete: Bool) throws
}

/// The same as `#expect`, which takes longer than what is tried.
private func same(_ holds: @autoclosure () throws -> Bool, _ what: @autoclosure () -> String = "")
  rethrows
{
  if try !holds() { Issue.record("\(what()), seed \(LiveRun.seed)") }
}

/// A value whose observers are notified once.
final class Watch: Sendable {
  private let isTold = Mutex(false)
  init(_ read: () -> Void) { withObservationTracking(read) { self.tell() } }
  private func tell() { isTold.withLock { $0 = true } }
  var wasTold: Bool { isTold.withLock(\.self) }
}

final class ResultsMirror<Object: StoredObject>: LiveMirror {
  private let name: String
  private let results: LiveResults<Object>
  private let changes: ResultsChanges<Object>
  private let fetch: () throws -> [Object]
  private var ids: [ObjectID<Object>]
  private var sections: [[ObjectID<Object>]]?
  /// The sections, as they are in the results.
  private let readSections: (() -> [(value: String, ids: [ObjectID<Object>])])?
  private let sectionValue: ((Object) -> String)?
  private var watchers: Watch?

  init(
    _ name: String, _ results: LiveResults<Object>, fetch: @escaping () throws -> [Object]
  ) {
    (self.name, self.results, self.fetch) = (name, results, fetch)
    (changes, ids) = (results.changes(), results.objects.ids)
    (sections, readSections, sectionValue) = (nil, nil, nil)
  }

  init(
    _ name: String, _ results: SectionedResults<Object, String>, by value: KeyPath<Object, String>,
    fetch: @escaping () throws -> [Object]
  ) {
    (self.name, self.results, self.fetch) = (name, results, fetch)
    (changes, ids) = (results.changes(), results.objects.ids)
    let read = { results.sections.map { (value: $0.value, ids: $0.objects.ids) } }
    (sections, readSections) = (read().map(\.ids), read)
    sectionValue = { $0[keyPath: value] }
  }

  func watch() {
    let results = results
    watchers = Watch { _ = results.count }
  }

  func check(isComplete: Bool) throws {
    let wasTold = watchers?.wasTold
    let now = results.objects
    let pending = changes.takePending()
    watchers = nil
    if !pending.isEmpty { same(wasTold != false, "\(name): observers hear of every change") }
    for change in pending { apply(change) }
    same(ids == now.ids, "\(name): the changes lead to the results")
    same(results.count == ids.count)
    if let readSections {
      let read = readSections()
      same(sections == read.map(\.ids), "\(name): the changes lead to the sections")
      same(read.flatMap(\.ids) == ids)
    }
    checkPlaces()
    guard isComplete else { return }
    let fetched = try fetch()
    same(fetched.map { ObjectID($0) } == ids, "\(name): results are what is fetched again")
    checkSections(fetched)
    let failure = results.failure?.code
    same(failure == nil || failure == .recordMissing, "\(name): a performer may be deleted")
  }

  private func checkSections(_ fetched: [Object]) {
    guard let readSections, let sectionValue else { return }
    var expected: [(String, Int)] = []
    for value in fetched.map(sectionValue) {
      if expected.last?.0 == value {
        expected[expected.count - 1].1 += 1
      } else {
        expected.append((value, 1))
      }
    }
    let read = readSections()
    same(expected.map(\.0) == read.map(\.value) && expected.map(\.1) == read.map(\.ids.count))
  }

  private func checkPlaces() {
    guard let index = ids.indices.randomElement() else { return }
    let object = results[index]
    same(ObjectID(object) == ids[index])
    let place = results.place(of: object)
    same(place?.index == index)
    if let sections, let place {
      same(sections[place.section][place.item] == ids[index])
    } else {
      same(place?.item == index && place?.section == 0)
    }
  }

  // MARK: Applying

  private func apply(_ change: ResultsChange<Object>) {
    guard !change.isReset else {
      Issue.record("\(name): nothing was left out")
      return
    }
    for row in change.removed { same(ids[row.place.index] == row.id) }
    for move in change.moved { same(ids[move.from.index] == move.id) }
    let gone = change.removed.map(\.place) + change.moved.map(\.from)
    let new =
      change.inserted.map { ($0.id, $0.place) } + change.moved.map { ($0.id, $0.to) }
    for place in gone.sorted(by: { $0.index > $1.index }) {
      ids.remove(at: place.index)
      sections?[place.section].remove(at: place.item)
    }
    for section in change.removedSections.reversed() {
      same(sections?.remove(at: section) == [], "\(name): a section goes once it is empty")
    }
    for section in change.insertedSections { sections?.insert([], at: section) }
    for (id, place) in new.sorted(by: { $0.1.index < $1.1.index }) {
      ids.insert(id, at: place.index)
      sections?[place.section].insert(id, at: place.item)
    }
    for row in change.updated { same(ids[row.place.index] == row.id) }
    same(change.count == ids.count)
  }
}

final class CountMirror: LiveMirror {
  private let count: LiveCount
  private let fetch: () throws -> Int
  private var isEmptyWatch: Watch?
  private var valueWatch: Watch?
  private var before: Int

  init(_ count: LiveCount, fetch: @escaping () throws -> Int) {
    (self.count, self.fetch, before) = (count, fetch, count.value)
  }

  func watch() {
    let count = count
    valueWatch = Watch { _ = count.value }
    isEmptyWatch = Watch { _ = count.isEmpty }
  }

  func check(isComplete: Bool) throws {
    let told = (valueWatch?.wasTold, isEmptyWatch?.wasTold)
    if before != count.value { same(told.0 != false, "observers hear of every change") }
    if (before == 0) != count.isEmpty { same(told.1 != false) }
    (valueWatch, isEmptyWatch, before) = (nil, nil, count.value)
    if isComplete { try same(count.value == fetch(), "the count is what is counted again") }
  }
}

final class ObjectMirror<Object: StoredObject>: LiveMirror {
  private let live: LiveObject<Object>
  private let store: Store

  init(_ store: Store, _ id: ObjectID<Object>) throws {
    (live, self.store) = (try store.liveObject(id), store)
  }

  func watch() {}

  func check(isComplete: Bool) throws {
    guard isComplete else { return }
    let isFound = try store.fetchIDs(Object.self).contains(live.id.rowID)
    same(live.exists == isFound, "an object is there as long as it is found")
    if isFound { try same(live.object === store.object(live.id), "the object is the store's") }
  }
}
