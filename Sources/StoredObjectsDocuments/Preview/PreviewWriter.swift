import Locks
import StoredObjectsCore

/// Writes the previews of a document in the background, for the newest of the states it is given.
final class PreviewWriter: Sendable {
  private let type: DocumentType
  private let thread: DocumentThread
  private let isEncrypted: Bool
  private let state = Locked(State())

  private struct State {
    var next: Work?
    var isRunning = false
    var failure: DocumentError?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// A saved state, the document, and its name.
  private struct Work {
    let snapshot: StoreSnapshot
    let package: DocumentPackage
    let title: String
  }

  init(_ type: DocumentType, _ thread: DocumentThread, isEncrypted: Bool) {
    (self.type, self.thread, self.isEncrypted) = (type, thread, isEncrypted)
  }

  /// Whether documents get previews.
  private var isOn: Bool {
    type.makePreview != nil && (!isEncrypted || type.showsPreviewsOfEncrypted)
  }

  /// The error of the last preview; nil if it was written.
  var failure: DocumentError? { state.withLock { $0.failure } }

  /// Writes the previews of the state of the last commit.
  func write(_ container: StoreContainer, _ package: DocumentPackage, title: String) {
    guard isOn else { return }
    let snapshot: StoreSnapshot
    do throws(StoreError) {
      snapshot = try container.snapshot()
    } catch {
      return state.withLock { $0.failure = DocumentError(error, at: package.path) }
    }
    let isIdle = state.withLock { state in
      state.next = Work(snapshot: snapshot, package: package, title: title)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    // The thread keeps this object until it has nothing left to write.
    if isIdle { thread.add { while self.writeNext() {} } }
  }

  /// Waits until all previews are written.
  func finish(isolation: isolated (any Actor)? = #isolation) async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if state.isRunning { state.waiting.append(continuation) }
        return !state.isRunning
      }
      if isIdle { continuation.resume() }
    }
  }

  private func writeNext() -> Bool {
    let (work, waiting) = state.withLock { state -> (Work?, [CheckedContinuation<Void, Never>]) in
      defer { state.next = nil }
      if let next = state.next { return (next, []) }
      defer { (state.isRunning, state.waiting) = (false, []) }
      return (nil, state.waiting)
    }
    for continuation in waiting { continuation.resume() }
    guard let work else { return false }
    do {
      try write(work)
      state.withLock { $0.failure = nil }
    } catch {
      state.withLock { $0.failure = .wrapping(error, at: work.package.path) }
    }
    return true
  }

  private func write(_ work: Work) throws {
    guard let makePreview = type.makePreview else { return }
    let store = try work.snapshot.makeStore()
    let preview = try makePreview(store, type, work.title)
    if let png = preview.png { _ = try PNGHeader(png) }
    for file in DocumentPreview.File.allCases {
      try PreviewFiles.write(file.rawValue, preview.bytes(of: file), in: work.package)
    }
  }
}

extension StoredDocument {
  /// Writes the previews of the saved state in the background.
  func writePreviews() {
    previews?.write(container, package, title: title)
  }

  /// Waits until the previews of all saves so far are written.
  ///
  /// Complexity: waits for two calls of ``DocumentType/makePreview`` at most, and for the files
  /// that they fill.
  public func finishPreviews(isolation: isolated (any Actor)? = #isolation) async {
    await previews?.finish()
  }

  /// The reason why the last preview could not be written; nil if it was.
  ///
  /// A save never fails because of a preview.
  public var previewFailure: DocumentError? { previews?.failure }
}
