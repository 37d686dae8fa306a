import FoundationEssentials
import Locks
import Synchronization

/// The last commits of a backend: their numbers, and what they have changed.
///
/// A backend reports each commit to its coordinator. Stores use the journal to find out what has
/// happened since they last looked, and whether a commit that they prepare is still valid. Only the
/// last commits are remembered. Safe on any thread.
package final class CommitJournal: Sendable {
  private let state = Locked(State())
  /// The number of the last commit that every reader sees.
  private let visible = Atomic<UInt64>(0)
  private let tokens = TokenSource()

  private struct State {
    /// The commits after ``forgotten``.
    var entries = Ring<Entry>(capacity: CommitJournal.capacity)
    /// The memory that each of them takes, separate so that entries need not be copied for it.
    var weights = Ring<Int>(capacity: CommitJournal.capacity)
    /// The number up to which the changes of commits are no longer known.
    var forgotten: UInt64 = 0
    /// The approximate memory of all entries.
    var weight = 0
    /// The last commits, for searches by token.
    var commits = Ring<Commit>(capacity: CommitJournal.maximumCount)
    /// The commit on the disk after which these began.
    var base: Commit?
    var last: Commit?
    var lastNumber: UInt64 { last?.number ?? 0 }
  }

  /// The maximum number of commits that are remembered with their changes.
  ///
  /// This is more than the stores that commit at once, but not many more: the memory of the last
  /// saves is still in the processor's cache when it is used again.
  fileprivate static let capacity = 32
  /// The approximate maximum size of these; of a larger commit only its rows are remembered.
  private static let maximumWeight = 1 << 20
  /// The maximum number of commits that are found by their token.
  static let maximumCount = 1024

  /// The number of the last commit that every reader sees; 0 before the first.
  package var lastNumber: UInt64 { visible.load(ordering: .acquiring) }
  /// The last commit; nil if there is none or its version recorded nothing about it.
  package var last: Commit? { state.withLock { $0.last } }

  /// Returns a unique token.
  package func newToken() -> CommitToken { tokens.next() }

  /// Continues after the last commit on the disk; nil if there is none.
  package func begin(after last: Commit?) {
    let number = last?.number ?? 0
    state.withLock { state in
      (state.base, state.last, state.forgotten, state.weight) = (last, last, number, 0)
      state.entries.removeAll()
      state.weights.removeAll()
      state.commits.removeAll()
    }
    visible.store(number, ordering: .releasing)
  }

  /// Records a commit that every reader sees by now.
  func append(_ commit: Commit, _ changes: ChangeSet) {
    // Moved into the journal, because a copy changes reference counts.
    var entry: Entry? = Entry(changes, atMost: Self.maximumWeight)
    let weight = entry?.weight ?? 0
    state.withLock { state in
      assert(commit.number == state.lastNumber + 1, "a gap in the numbers of commits")
      let isFull = commit.number - state.forgotten > UInt64(Self.capacity)
      if isFull { Self.forgetFirst(&state) }
      state.entries[commit.number] = entry.take()
      state.weights[commit.number] = weight
      state.weight += weight
      state.last = commit
      state.commits[commit.number] = commit
      while state.weight > Self.maximumWeight, state.forgotten + 1 < commit.number {
        Self.forgetFirst(&state)
      }
    }
    visible.store(commit.number, ordering: .releasing)
  }

  private static func forgetFirst(_ state: inout State) {
    state.forgotten += 1
    state.weight -= state.weights[state.forgotten] ?? 0
    state.entries[state.forgotten] = nil
  }

  // MARK: Asking

  /// Returns the changes of the commits after a number; nil if they are no longer known.
  func changes(since number: UInt64) -> ChangeSummary? {
    state.withLock { state in
      guard number >= state.forgotten else { return nil }
      var news = ForeignNews()
      for entry in Self.entries(behind: number, state) { entry.add(to: &news) }
      return ChangeSummary(news, upTo: state.lastNumber)
    }
  }

  /// Returns the remembered commits after a number.
  private static func entries(behind number: UInt64, _ state: State) -> [Entry] {
    let first = max(number, state.forgotten)
    guard first < state.lastNumber else { return [] }
    return (first + 1...state.lastNumber).compactMap { state.entries[$0] }
  }

  /// Returns the commit with a token if it is one of the last.
  func commit(withToken token: UUID) -> Commit? {
    let token = CommitToken(token)
    return state.withLock { state in
      if let base = state.base, base.rawToken == token { return base }
      return state.commits.first { $0.rawToken == token }
    }
  }

  /// Returns the conflict of a change set with later commits.
  ///
  /// - Parameters:
  ///   - changes: The change set.
  ///   - basis: The data that it is based on.
  ///   - others: Commits that come before it and that no reader sees yet.
  /// - Returns: The data that it is based on and that others have changed; nil if there is no
  ///   conflict.
  package func conflict(
    of changes: ChangeSet, on basis: CommitBasis, besides others: some Collection<ChangeSet>
  ) -> FoundConflict? {
    if others.isEmpty, basis.number == lastNumber { return nil }
    let (entries, forgotten, last) = state.withLock { state in
      (Self.entries(behind: basis.number, state), state.forgotten, state.lastNumber)
    }
    var conflict = FoundConflict(
      basedOn: basis.number, lastNumber: last + UInt64(others.count),
      // A number that is still to come is from another store.
      isExpired: basis.number < forgotten || basis.number > last)
    for entry in entries { entry.find(changes, basis, &conflict) }
    for other in others { other.find(changes, basis, &conflict) }
    return conflict.isEmpty ? nil : conflict
  }
}

/// The elements with the last numbers: the newest replaces the oldest.
private struct Ring<Element: Sendable>: Sendable {
  private let capacity: Int
  /// The number of the first element that was set.
  private var first: UInt64 = 0
  private var elements: [Element?] = []

  init(capacity: Int) { self.capacity = capacity }

  /// The element of a number, which is one of the last; numbers are set in ascending order.
  subscript(number: UInt64) -> Element? {
    get {
      let index = index(of: number)
      return index < elements.count ? elements[index] : nil
    }
    set {
      if elements.isEmpty { first = number }
      let index = index(of: number)
      if index < elements.count { elements[index] = newValue } else { elements.append(newValue) }
    }
  }

  private func index(of number: UInt64) -> Int { Int((number - first) % UInt64(capacity)) }

  func first(where isWanted: (Element) -> Bool) -> Element? {
    elements.lazy.compactMap { $0 }.first(where: isWanted)
  }

  mutating func removeAll() { elements = [] }
}

/// The changes of one commit.
private struct Entry: Sendable {
  private let content: Content
  let weight: Int

  private enum Content: Sendable {
    case changes(ChangeSet)
    /// A large commit, of which only the rows, the names and the changed ordered tables are
    /// remembered.
    case rows(ForeignNews, names: [ChangeSet.NameChange], ordered: [OrderedTableID])
  }

  init(_ changes: ChangeSet, atMost maximum: Int) {
    let weight = changes.weight
    if weight <= maximum {
      (content, self.weight) = (.changes(changes), weight)
      return
    }
    var news = ForeignNews()
    for table in changes.tables { news.add(table) }
    content = .rows(
      news, names: changes.names, ordered: changes.ordered.filter { !$0.isEmpty }.map(\.table))
    self.weight =
      64 + changes.tables.reduce(0) { $0 + $1.records.count } / 4 + 64 * changes.names.count
  }

  func add(to news: inout ForeignNews) {
    switch content {
    case .changes(let changes): news.add(changes)
    case .rows(let rows, let names, _):
      news.add(rows)
      news.add(names: names)
    }
  }

  /// Adds the changes that conflict with a change set.
  func find(_ changes: ChangeSet, _ basis: CommitBasis, _ conflict: inout FoundConflict) {
    switch content {
    case .changes(let own): own.find(changes, basis, &conflict)
    case .rows(let news, let names, let ordered):
      for table in news.tables {
        changes.forEachRow(of: table.table, and: basis) { row in
          if table.written.contains(row) || table.deleted.contains(row) {
            conflict.add(row, of: table.table)
          }
        }
      }
      conflict.names += names.names(sharedWith: changes.names)
      // The keys are no longer known.
      for table in ordered where changes.touches(table, basis) {
        conflict.orderedTables.insert(table)
      }
    }
  }
}

extension ChangeSet {
  /// The approximate memory that the entry takes.
  fileprivate var weight: Int {
    let rows = tables.reduce(0) { $0 + $1.records.count }
    return 64 + bytes.count + 16 * ordered.reduce(rows) { $0 + $1.changes.count }
  }
}
