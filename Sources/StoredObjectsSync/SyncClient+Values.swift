import StoreEngine
import StoredObjectsCore

/// Values outside of records that a commit needs, and that the store does not have.
struct MissingValues: Error {
  let references: [ExternalReference]

  static func error(_ references: [ExternalReference], at location: String) -> StoreError {
    StoreError(
      .recordMissing,
      """
      The server refers to \(references.count) values outside of records that it does not have. \
      Check the server's store.
      """,
      at: .init(path: location), underlying: MissingValues(references: references))
  }
}

extension SyncClient {
  /// The number of bytes of values in a request or an answer.
  ///
  /// Smaller parts would make a value of many megabytes thousands of requests.
  private var partByteCount: Int { max(configuration.requestByteCount, ExternalChunks.size) }

  // MARK: From the server

  /// Fetches the values that the store does not have, in parts.
  ///
  /// A value that was cut off continues where it has ended.
  ///
  /// - Returns: The values that the server does not have.
  @discardableResult
  func fetch(_ references: some Sequence<ExternalReference>) async throws -> [ExternalReference] {
    var places: [ValuePlace] = []
    for reference in references where try !incoming.isHere(reference) {
      places.append(ValuePlace(reference: reference, offset: try incoming.count(of: reference)))
    }
    places = places.begunFirst
    var missing: [ExternalReference] = []
    while !places.isEmpty {
      let asked = places.prefix(1000)
      reception = Reception(ofValues: partByteCount)
      let answer = try await exchange(.fetch(Array(asked), byteLimit: partByteCount))
      guard case .values(let parts, let gone) = answer else { throw refused(nil) }
      let left = try add(parts, to: asked, besides: Set(gone))
      missing += asked.map(\.reference).filter(Set(gone).contains)
      // Each answer brings something.
      guard left != Array(asked) else { throw refused(nil) }
      places = left + places.dropFirst(asked.count)
    }
    return missing
  }

  /// Adds parts that the server has sent; returns the places that are left.
  private func add(
    _ parts: [ValuePart], to places: ArraySlice<ValuePlace>, besides gone: Set<ExternalReference>
  ) throws -> [ValuePlace] {
    var known: [ValuePlace: ValuePart] = [:]
    for part in parts { known[part.place] = part }
    var left: [ValuePlace] = []
    for place in places where !gone.contains(place.reference) {
      guard let part = known[place] else {
        left.append(place)
        continue
      }
      guard try incoming.add(part) == part.end else { throw refused(nil) }
      if part.end < place.reference.byteCount {
        left.append(ValuePlace(reference: place.reference, offset: part.end))
      }
    }
    return left
  }

  /// Fetches the values of a copy, which no store can read yet.
  func completeCopy() async throws {
    while true {
      let needed = try backend.listedValues()
      let missing = try await fetch(needed.keys).filter { needed[$0] == true }
      if missing.isEmpty { break }
      // The server has removed them meanwhile: a later commit says so.
      let position = try backend.followedPosition()
      try await follow(after: position)
      guard try backend.followedPosition() != position else {
        throw MissingValues.error(missing, at: backend.location)
      }
    }
    try backend.externalStorage?.synchronize()
    incoming.releaseAll()
  }

  // MARK: To the server

  /// Sends the values of commits that the server does not have.
  func send(_ references: Set<ExternalReference>) async throws {
    if references.isEmpty { return }
    var left = try await placesToSend(Array(references))
    var restarts = 0
    while !left.isEmpty {
      let parts = try nextParts(&left)
      if parts.isEmpty { continue }
      let counts = try await counts(of: parts)
      for (part, count) in zip(parts, counts).reversed() where count < part.reference.byteCount {
        // The server has been started again, for example.
        if count < part.end { restarts += 1 }
        left.insert(ValuePlace(reference: part.reference, offset: count), at: 0)
      }
      guard restarts <= 10 else {
        throw StoreError(
          .ioError,
          """
          The server has lost parts of a value \(restarts) times. Let all requests of a device \
          reach the same process, or use a larger requestByteCount. Nothing is lost: sync again.
          """, at: .init(path: backend.location))
      }
    }
  }

  /// Asks how much of each value the server has.
  private func placesToSend(_ references: [ExternalReference]) async throws -> [ValuePlace] {
    var places: [ValuePlace] = []
    for start in stride(from: 0, to: references.count, by: 1000) {
      let some = references[start..<min(start + 1000, references.count)]
      let counts = try await counts(of: some.map { ValuePart($0) })
      for (reference, count) in zip(some, counts) where count < reference.byteCount {
        places.append(ValuePlace(reference: reference, offset: count))
      }
    }
    return places.begunFirst
  }

  private func counts(of parts: [ValuePart]) async throws -> [Int] {
    reception = Reception()
    let answer = try await exchange(.send(parts))
    guard case .stored(let counts) = answer, counts.count == parts.count,
      zip(parts, counts).allSatisfy({ $0.reference.byteCount >= $1 })
    else { throw refused(nil) }
    return counts
  }

  /// Reads the next parts, and removes their places.
  private func nextParts(_ places: inout [ValuePlace]) throws -> [ValuePart] {
    var (parts, byteCount, taken) = ([ValuePart](), 0, 0)
    for place in places where byteCount < partByteCount && parts.count < 1000 {
      taken += 1
      // A commit behind it has dropped the value, and the server says whether it needs it.
      guard let reader = try backend.reader(of: place.reference) else { continue }
      let end = min(place.reference.byteCount, place.offset + partByteCount - byteCount)
      let bytes = try reader.bytes(in: place.offset..<end)
      byteCount += bytes.count
      parts.append(ValuePart(place.reference, offset: place.offset, bytes))
    }
    places.removeFirst(taken)
    return parts
  }
}

extension ServerChanges {
  /// Adds to a commit the values of rows that no class of the device reads.
  ///
  /// - Returns: The values that the rows no longer refer to, and those that the store does not have.
  func addValues(
    of rest: RecordStates, to commit: inout ChangeSet, in backend: any StoreBackend,
    _ incoming: IncomingValues
  ) throws(StoreError) -> (dropped: [ExternalID], missing: [ExternalReference]) {
    var (dropped, missing) = ([ExternalID](), [ExternalReference]())
    if values.isEmpty || rest.records.isEmpty { return ([], []) }
    let catalogue = try ExternalCatalogue(backend)
    for (name, rows) in rest.records {
      guard let classID = try backend.classMetadata(of: name)?.classID else { continue }
      for owner in rows.keys.map({ ExternalCatalogue.Owner(classID, $0) }) {
        for (id, reference) in values[owner] ?? [:] {
          guard let reference else {
            catalogue.remove(id, of: owner, from: &commit)
            dropped.append(id)
            continue
          }
          if try !incoming.isHere(reference) { missing.append(reference) }
          catalogue.add(reference, of: owner, to: &commit)
        }
      }
    }
    try backend.externalStorage?.synchronize()
    return (dropped, missing)
  }
}

extension StoreBackend {
  /// Returns the listed values, and whether a row refers to each.
  fileprivate func listedValues() throws(StoreError) -> [ExternalReference: Bool] {
    var values: [ExternalReference: Bool] = [:]
    try ExternalCatalogue.ifUsed(in: self)?.forEach { reference, owner in
      values[reference] = values[reference] == true || !owner.isHistory
    }
    return values
  }
}
