import Locks
package import StoreEngine
import StoredObjectsCore

/// The editor of a store that is open for writing: each edit is one save, which can be undone.
///
/// Safe on any thread.
package final class StoreEditor: Sendable {
  private let backend: any StoreBackend
  private let author: String
  private let steps = Locked(Steps())
  /// Held by one edit at a time, so that two undos don't undo the same edit; it counts them.
  private let turn = Locked(0)

  /// An edit that was made, for undoing it.
  private struct Step: Sendable {
    let title: String
    let order: [ObjectAddress]
    let changes: [ObjectAddress: EditPlan.Change]
  }

  private struct Steps: Sendable {
    var done: [Step] = []
    var undone: [Step] = []
  }

  /// The number of edits that can be undone.
  private static let undoLimit = 200

  /// Creates the editor of a backend that is open for writing.
  ///
  /// - Parameters:
  ///   - backend: The backend.
  ///   - author: The author of the commits.
  package init(_ backend: any StoreBackend, author: String = "stored-objects browse") {
    (self.backend, self.author) = (backend, author)
  }

  /// The titles of the edits that can be undone and redone; nil if there are none.
  package var titles: (undo: String?, redo: String?) {
    steps.withLock { ($0.done.last?.title, $0.undone.last?.title) }
  }

  /// Makes the changes of a request in one save.
  ///
  /// - Throws: ``BrowsingError`` with `conflict`, `unconfirmed`, `refused`, `invalid` or
  ///   `notFound`; ``/StoreEngine/StoreError``. Nothing has changed then.
  package func apply(_ request: EditRequest) throws -> EditResult {
    try inTurn { try make(request) }
  }

  private func inTurn(_ body: () throws -> EditResult) throws -> EditResult {
    try turn.withLock { count in
      count += 1
      return try body()
    }
  }

  private func make(_ request: EditRequest) throws -> EditResult {
    let title = request.actions.first.map(Self.title) ?? ""
    let (result, step) = try save(title) { state in
      var plan = EditPlan(state, request.confirmations)
      var first: [ObjectAddress] = []
      for action in request.actions {
        first.append(
          try plan.add(action) { [backend] known in
            try backend.reserveRows(1, in: backend.table(named: known.name)).lowerBound
          })
      }
      return (plan, first)
    }
    guard let step else { return result }
    steps.withLock { steps in
      steps.done.append(step)
      if steps.done.count > Self.undoLimit { steps.done.removeFirst() }
      steps.undone = []
    }
    return result
  }

  private static func title(_ action: EditAction) -> String {
    switch action {
    case .set(let address, _, let values):
      "Set \(values.map(\.name).joined(separator: ", ")) of \(address)"
    case .insertReference(let address, _, let property, _, let reference):
      "Add \(reference) to \(property) of \(address)"
    case .removeReference(let address, _, let property, _):
      "Remove from \(property) of \(address)"
    case .moveReference(let address, _, let property, _, _): "Move in \(property) of \(address)"
    case .insert(let className, _): "Insert a \(className)"
    case .delete(let address, _): "Delete \(address)"
    }
  }

  // MARK: Undoing

  /// Undoes the last edit, by a new save.
  ///
  /// - Throws: ``BrowsingError`` with `invalid` if there is none, or with `conflict` if an object
  ///   has changed since; ``/StoreEngine/StoreError``.
  package func undo() throws -> EditResult { try inTurn { try undoLast() } }

  private func undoLast() throws -> EditResult {
    guard let step = steps.withLock({ $0.done.last }) else {
      throw BrowsingError(.invalid, "There is no edit to undo.")
    }
    let result = try replay(step, "Undo: \(step.title)", isUndo: true)
    steps.withLock { steps in
      guard steps.done.popLast() != nil else { return }
      steps.undone.append(step)
    }
    return result
  }

  /// Makes the edit again that was undone last.
  ///
  /// - Throws: As ``undo()``.
  package func redo() throws -> EditResult { try inTurn { try redoLast() } }

  private func redoLast() throws -> EditResult {
    guard let step = steps.withLock({ $0.undone.last }) else {
      throw BrowsingError(.invalid, "There is no edit to make again.")
    }
    let result = try replay(step, "Redo: \(step.title)", isUndo: false)
    steps.withLock { steps in
      guard steps.undone.popLast() != nil else { return }
      steps.done.append(step)
    }
    return result
  }

  private func replay(_ step: Step, _ title: String, isUndo: Bool) throws -> EditResult {
    try save(title) { state in
      // The edit itself was confirmed.
      var plan = EditPlan(state, Set(EditRequest.Confirmation.allCases))
      for address in step.order {
        guard let change = step.changes[address] else { continue }
        let (expected, wanted) =
          isUndo ? (change.after, change.before) : (change.before, change.after)
        try plan.replace(address, with: wanted)
        guard plan.changes[address]?.before == expected else {
          var error = BrowsingError(
            .conflict, "\(address) has changed since the edit, so it can't be undone or redone.")
          error.id = "\(address)"
          throw error
        }
      }
      return (plan, [])
    }.result
  }

  // MARK: Saving

  /// Makes a plan in the turn to commit, and commits it.
  private func save(
    _ title: String, _ make: (BrowsedState) throws -> (EditPlan, [ObjectAddress])
  ) throws -> (result: EditResult, step: Step?) {
    var result: Result<(EditResult, Step?), any Error>?
    try backend.coordinator.whileCommittingRepeatedly { () throws(StoreError) in
      do {
        let state = try BrowsedState(backend.snapshot())
        let (plan, first) = try make(state)
        result = .success(try commit(plan, first, title))
      } catch let error as StoreError {
        throw error
      } catch {
        result = .failure(error)
      }
    }
    guard let result else { throw BrowsingError(.invalid, "Nothing was saved.") }
    return try result.get()
  }

  private func commit(
    _ plan: EditPlan, _ first: [ObjectAddress], _ title: String
  ) throws -> (EditResult, Step?) {
    var result = EditResult()
    result.title = title
    let changed = plan.order.filter { plan.changes[$0].map { $0.before != $0.after } ?? false }
    result.ids = (first + changed.filter { !first.contains($0) }).map { "\($0)" }
    guard !changed.isEmpty else { return (result, nil) }
    var set = ChangeSet()
    for address in changed { try add(address, plan, to: &set) }
    for (name, row) in plan.lastRows { try addMetadata(of: name, row, plan.state, to: &set) }
    var indexes = IndexChanges(plan, backend)
    try indexes.add(to: &set)
    var request = CommitRequest(author: author)
    request.basis = CommitBasis(upTo: plan.state.number)
    result.commit = try backend.commit(set, request)?.number
    result.clearedIndexes = indexes.cleared
    return (result, Step(title: title, order: changed, changes: plan.changes))
  }

  private func add(
    _ address: ObjectAddress, _ plan: EditPlan, to set: inout ChangeSet
  ) throws {
    guard let change = plan.changes[address] else { return }
    let table = try backend.table(named: address.className)
    let range = set.take(change.after)
    let kind: ChangeSet.Kind =
      range == nil ? .delete : change.before == nil ? .insert : .update
    set.add(.init(kind: kind, rowID: address.rowID, range: range ?? 0..<0), to: table)
  }

  /// Adds the metadata row of a class with a new object.
  private func addMetadata(
    of name: String, _ row: UInt32, _ state: BrowsedState, to set: inout ChangeSet
  ) throws {
    let known = try state.browsedClass(name)
    guard var metadata = known.metadata else { return }
    metadata.lastRowID = max(metadata.lastRowID, row)
    if let number = known.layouts.last?.number {
      metadata.classVersion = max(metadata.classVersion, number)
    }
    var buffer = DataBuffer()
    metadata.write(to: &buffer)
    let start = set.bytes.count
    set.bytes += buffer.bytes
    set.add(
      .init(kind: .update, rowID: ClassMetadata.rowID, range: start..<set.bytes.count),
      to: try backend.table(named: name))
  }
}

extension ChangeSet {
  fileprivate mutating func add(_ change: RecordChange, to table: TableID) {
    if let index = tables.firstIndex(where: { $0.table == table }) {
      tables[index].records.append(change)
    } else {
      tables.append(.init(table: table, records: [change]))
    }
  }
}
