public import Observation
import StoreEngine

/// The registrars of a store's objects, each created when a property of its object is first read.
///
/// They are kept here, not in the objects, so that objects of other stores need no memory for them.
final class ObservedObjects {
  private var observed: [ObjectIdentifier: Observed] = [:]
  /// The key paths by which registrars identify properties, by property name.
  private var paths: [String: KeyPath<StoredObject, Void>] = [:]

  private struct Observed {
    let registrar = ObservationRegistrar()
    /// The names of all properties that have been read.
    var properties: Set<String> = []
  }

  /// Reports that a property is read, possibly by an observer of its next change.
  func access(_ object: StoredObject, _ property: String) {
    let id = ObjectIdentifier(object)
    let known = observed[id] ?? Observed()
    known.registrar.access(object, keyPath: path(property))
    if !known.properties.contains(property) {
      observed[id, default: known].properties.insert(property)
    }
  }

  /// Reports that a property of an object is about to change.
  func willSet(_ object: StoredObject, _ property: String) {
    let registrar = observed[ObjectIdentifier(object)]?.registrar
    registrar?.willSet(object, keyPath: path(property))
  }

  /// Reports that a property of an object has changed.
  func didSet(_ object: StoredObject, _ property: String) {
    let registrar = observed[ObjectIdentifier(object)]?.registrar
    registrar?.didSet(object, keyPath: path(property))
  }

  /// Reports that any property of an object may have changed.
  func noteChange(of object: StoredObject) {
    guard let known = observed[ObjectIdentifier(object)] else { return }
    for property in known.properties {
      known.registrar.withMutation(of: object, keyPath: path(property)) {}
    }
  }

  /// Forgets an object that is being freed.
  func forget(_ object: StoredObject) { observed[ObjectIdentifier(object)] = nil }

  private func path(_ property: String) -> KeyPath<StoredObject, Void> {
    if let path = paths[property] { return path }
    let path = \StoredObject[observed: property]
    paths[property] = path
    return path
  }
}

extension StoredObject {
  /// A placeholder for a property if a registrar needs a key path; "" for all properties.
  fileprivate subscript(observed property: String) -> Void { () }
}

extension StoredObject: Observable {}

extension Store {
  /// A Boolean value that indicates whether the store's objects can be observed.
  ///
  /// Observe them with `withObservationTracking`, `Observations`, and code that is built on these:
  ///
  ///     store.isObservable = true
  ///     for await title in Observations({ song.title }) { label.text = title }
  ///
  /// False by default, because a program can't find out whether anything observes an object. In an
  /// observable store, each read of a property accesses the object's registrar, which the first
  /// read creates. In other stores, objects cost no additional time or memory. Set it for a store
  /// that drives a user interface, but not for one that imports in the background.
  ///
  /// Properties of `@Stored` classes are observed one by one. An object with ``Content`` is
  /// observed as a whole, so an observer of one property is notified of changes to the others, too.
  ///
  /// Observers are notified of edits, of content that undo, redo and ``discardChanges()`` restore,
  /// of inverses, and of objects that ``mergeChanges()`` and ``refresh(_:)`` make faults. An object
  /// that is in no store is not observed.
  ///
  /// Complexity: linear in the number of objects in memory.
  public var isObservable: Bool {
    get { observedObjects != nil }
    set {
      guard newValue != isObservable else { return }
      observedObjects = newValue ? ObservedObjects() : nil
      setObserved()
    }
  }

  /// Makes objects report reads, if observers or live results may need them.
  func setObserved() {
    let isObserved = isObservable || tellsReadsToQueries
    for entry in classes {
      entry.setObserved(isObserved)
      for object in entry.livingObjects { object.setObserved(isObserved) }
    }
  }
}

extension RegisteredClass {
  func setObserved(_ isObserved: Bool) {
    if isObserved { specialState.insert(.observed) } else { specialState.remove(.observed) }
  }
}

extension StoredObject {
  final func setObserved(_ isObserved: Bool) {
    if isObserved { state.insert(.observed) } else { state.remove(.observed) }
  }

  /// Notifies observers that any property may have changed.
  final func noteObservedChange() {
    registration?.liveQueries?.note(self)
    tellObservers()
  }

  /// Notifies observers that the properties may be read from the record again.
  final func tellObservers() {
    if state.contains(.observed) { registration?.store?.observedObjects?.noteChange(of: self) }
  }
}
