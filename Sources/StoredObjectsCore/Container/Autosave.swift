import Locks
public import StoreEngine

/// The time at which a ``StoreActor`` saves automatically, and the handler of its errors.
///
///     let editor = container.makeActor(
///       autosave: .after(.seconds(2)) { store, error in
///         if error.code == .conflict { store.discardChanges() }
///       })
///     try await editor.perform { store in
///       try store.object(id)?.title = "Feeling Good"
///     }
///     // Saved within two seconds.
///
/// A save covers all unsaved changes in the actor's store, including those of a closure that has
/// thrown. Use ``Store/transaction(attempts:_:)`` in a closure whose changes belong together.
public struct Autosave: Sendable {
  /// A closure that handles the error of a save, on the actor's thread, with the actor's store.
  public typealias ErrorHandler = @Sendable (_ store: Store, _ error: StoreError) -> Void

  /// The maximum time that changes wait; nil if each call saves at its end.
  let delay: Duration?
  let handleError: ErrorHandler

  /// Saves at the end of each call that leaves unsaved changes, before the call returns.
  ///
  /// - Parameter onError: Handles the error of a save, which has changed nothing. Changes that the
  ///   handler leaves in the store are saved at the end of the next call.
  /// - Returns: A value to pass to ``StoreContainer/makeActor(autosave:mergesAutomatically:)``.
  public static func afterEachCall(onError: @escaping ErrorHandler) -> Autosave {
    Autosave(delay: nil, handleError: onError)
  }

  /// Saves all unsaved changes some time after the first of them.
  ///
  /// The changes are saved even if you release the actor meanwhile, and when the container is
  /// closed. They are lost if the process ends before the save.
  ///
  /// - Parameters:
  ///   - delay: The maximum time that changes wait.
  ///   - onError: Handles the error of a save, which has changed nothing. Changes that the handler
  ///     leaves in the store are saved some time after the next call.
  /// - Returns: A value to pass to ``StoreContainer/makeActor(autosave:mergesAutomatically:)``.
  public static func after(_ delay: Duration, onError: @escaping ErrorHandler) -> Autosave {
    Autosave(delay: delay, handleError: onError)
  }
}

extension StoreActor {
  /// Saves the changes of a call, at once or after the delay.
  func saveByItself(_ store: Store) {
    guard let autosave, store.hasUnsavedChanges else { return }
    guard let delay = autosave.delay else { return save(store, autosave) }
    guard delayedSave == nil else { return }
    // The task retains the actor until then.
    delayedSave = Task {
      // Cancelled once all has been saved.
      if (try? await Task.sleep(for: delay)) != nil { saveNow() }
    }
  }

  /// Saves the changes that wait for their delay.
  func saveNow() {
    delayedSave?.cancel()
    delayedSave = nil
    if let autosave, let opened, opened.hasUnsavedChanges { save(opened, autosave) }
  }

  private func save(_ store: Store, _ autosave: Autosave) {
    do throws(StoreError) {
      try store.saveChanges()
    } catch {
      autosave.handleError(store, error)
    }
  }
}

/// The actors of a container that save automatically.
final class AutosavingActors: Sendable {
  private struct Entry: Sendable { weak let actor: StoreActor? }

  private let entries = Locked<[Entry]>([])

  func append(_ actor: StoreActor) {
    entries.withLock { entries in
      entries.removeAll { $0.actor == nil }
      entries.append(Entry(actor: actor))
    }
  }

  /// Saves the waiting changes of all actors.
  func saveNow() async {
    for entry in entries.withLock({ $0 }) { await entry.actor?.saveNow() }
  }
}
