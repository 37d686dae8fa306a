public import Observation
import StoreEngine

/// The registrars of a store's objects, each made when a property of its object is first read.
///
/// They stand here, and not in the objects, so that objects of other stores have no room for them.
final class ObservedObjects {
  private var observed: [ObjectIdentifier: Observed] = [:]
  /// What registrars know the properties by, for each name.
  private var paths: [String: KeyPath<StoredObject, Void>] = [:]

  private struct Observed {
    let registrar = ObservationRegistrar()
    /// The names of all properties that were ever read.
    var properties: Set<String> = []
  }

  /// A property is read, perhaps by someone who waits for the next change of it.
  func access(_ object: StoredObject, _ property: String) {
    let id = ObjectIdentifier(object)
    let known = observed[id] ?? Observed()
    known.registrar.access(object, keyPath: path(property))
    if !known.properties.contains(property) {
      observed[id, default: known].properties.insert(property)
    }
  }

  /// A property of an object is about to change.
  func willSet(_ object: StoredObject, _ property: String) {
    let registrar = observed[ObjectIdentifier(object)]?.registrar
    registrar?.willSet(object, keyPath: path(property))
  }

  /// A property of an object has changed.
  func didSet(_ object: StoredObject, _ property: String) {
    let registrar = observed[ObjectIdentifier(object)]?.registrar
    registrar?.didSet(object, keyPath: path(property))
  }

  /// All properties of an object may be others than before.
  func noteChange(of object: StoredObject) {
    guard let known = observed[ObjectIdentifier(object)] else { return }
    for property in known.properties {
      known.registrar.withMutation(of: object, keyPath: path(property)) {}
    }
  }

  /// An object goes away.
  func forget(_ object: StoredObject) { observed[ObjectIdentifier(object)] = nil }

  private func path(_ property: String) -> KeyPath<StoredObject, Void> {
    if let path = paths[property] { return path }
    let path = \StoredObject[observed: property]
    paths[property] = path
    return path
  }
}

extension StoredObject {
  /// What stands for a property where registrars ask for a key path; "" for all of them.
  fileprivate subscript(observed property: String) -> Void { () }
}

extension StoredObject: Observable {}

extension Store {
  /// Whether its objects can be observed: by `withObservationTracking`, `Observations`, and what is
  /// built on them.
  ///
  ///     store.isObservable = true
  ///     for await title in Observations({ song.title }) { label.text = title }
  ///
  /// False unless set, because a program can't ask whether anyone is watching: in an observable
  /// store each reading of a property asks its object's registrar, which the first one makes. In
  /// others an object pays nothing, neither time nor room. So a store that drives a user interface
  /// is observable, and one that imports in the background is not.
  ///
  /// Properties by `@Stored` are observed one by one; an object with ``Content`` as a whole, so
  /// that whoever reads one of its properties hears of changes of the others, too.
  ///
  /// Observers hear of edits, of what undo, redo and ``discardChanges()`` set back, of inverses,
  /// and of what ``mergeChanges()`` and ``refresh(_:)`` make a fault. An object that is in no store
  /// is not observed.
  ///
  /// Complexity: linear in the number of living objects.
  public var isObservable: Bool {
    get { observedObjects != nil }
    set {
      guard newValue != isObservable else { return }
      observedObjects = newValue ? ObservedObjects() : nil
      setObserved()
    }
  }

  /// Lets objects tell of being read, if anyone may want to know.
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

  /// Tells observers that any property may have changed.
  final func noteObservedChange() {
    registration?.liveQueries?.note(self)
    tellObservers()
  }

  /// Tells observers that the properties may be read from the record again.
  final func tellObservers() {
    if state.contains(.observed) { registration?.store?.observedObjects?.noteChange(of: self) }
  }
}
