extension StoreCheck {
  /// The external values that were read.
  public struct CheckedValues: Sendable, Hashable {
    /// The number of values.
    public internal(set) var count = 0
    /// The sum of their sizes.
    public internal(set) var byteCount = 0
  }
}

/// The part of a check that reads external values.
struct ExternalCheck {
  private let backend: any StoreBackend
  /// The readable rows of each class, by class ID.
  private let rows: [UInt8: RowSet]
  private(set) var findings: [StoreFinding] = []
  private(set) var values = StoreCheck.CheckedValues()

  init(_ backend: any StoreBackend, _ rows: [UInt8: RowSet]) {
    (self.backend, self.rows) = (backend, rows)
  }

  mutating func run() throws(StoreError) {
    guard let storage = backend.externalStorage else { return }
    var listed: Set<ExternalID> = []
    try ExternalCatalogue(backend).forEach { reference, owner in
      if listed.insert(reference.id).inserted { verify(reference, owner, storage) }
      check(owner, of: reference)
    }
    let holders = backend.coordinator.externalValues(of: backend)
    for (id, byteCount) in try storage.list()
    where !listed.contains(id) && holders?.isHeld(id) != true {
      add(
        .strayValue,
        """
        No object refers to the value \(id), which takes \(byteCount) bytes. The next opening for \
        writing removes it.
        """)
    }
  }

  private mutating func verify(
    _ reference: ExternalReference, _ owner: ExternalCatalogue.Owner,
    _ storage: any ExternalStorage
  ) {
    values.count += 1
    values.byteCount += reference.byteCount
    do {
      var reader = ExternalReader(try storage.open(reference), reference)
      while try reader.next() != nil {}
    } catch {
      findings.append(
        StoreFinding(
          .externalValue, error, at: .init(path: backend.location, rowID: owner.rowID)))
    }
  }

  private mutating func check(
    _ owner: ExternalCatalogue.Owner, of reference: ExternalReference
  ) {
    if owner == .unknown {
      add(.strayValue, "Salvage has kept the value \(reference.id), whose object is unknown.")
    } else if let rows = rows[owner.classID], !rows.contains(owner.rowID) {
      add(
        .strayValue,
        """
        The value \(reference.id) is kept for row \(owner.rowID) of class \(owner.classID), which \
        does not exist.
        """)
    }
  }

  private mutating func add(_ kind: StoreFinding.Kind, _ message: String) {
    findings.append(StoreFinding(kind, message, at: .init(path: backend.location)))
  }
}
