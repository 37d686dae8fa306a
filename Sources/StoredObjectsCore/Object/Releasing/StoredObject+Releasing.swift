import StoreEngine

extension StoredObject {
  /// Gives away what the object holds, at the end of its life.
  ///
  /// The properties of a subclass end after this, so that what is taken out of them here is not
  /// freed there.
  final func releaseReferences(_ layout: ReferenceLayout) {
    let memory = Memory(of: self)
    guard layout.mayRelease(memory) else { return }
    let queue = ReleaseQueue.current
    layout.release(memory, into: queue)
    queue.empty()
  }

  /// The memory of an object.
  @safe struct Memory {
    private let start: UnsafeMutableRawPointer

    /// - Precondition: the object lives for as long as its memory is used.
    init(of object: StoredObject) {
      unsafe start = Unmanaged.passUnretained(object).toOpaque()
    }

    /// How many strong references to the object there are.
    var holderCount: Int { unsafe strongReferenceCount(start) }

    /// Uses the value of a property, whose type must be right, in place.
    func withValue<Value, Result>(
      at offset: Int, as type: Value.Type, _ body: (inout Value) -> Result
    ) -> Result {
      unsafe body(&(start + offset).assumingMemoryBound(to: type).pointee)
    }
  }
}

extension ReferenceLayout {
  /// Whether an object may hold something that nobody else holds.
  fileprivate func mayRelease(_ memory: StoredObject.Memory) -> Bool {
    if !holders.isEmpty || !others.isEmpty { return true }
    return references.contains { reference in
      memory.withValue(at: reference.offset, as: AnyObject?.self) { isKnownUniquelyReferenced(&$0) }
    }
  }

  /// Moves all that an object holds into a queue.
  func release(_ memory: StoredObject.Memory, into queue: ReleaseQueue) {
    for reference in references {
      memory.withValue(at: reference.offset, as: AnyObject?.self) { object in
        // One that others hold is not freed with this one.
        guard isKnownUniquelyReferenced(&object), let held = object.take() else { return }
        queue.append(held)
      }
    }
    for holder in holders { release(holder.type, holder.offset, memory, queue) }
    for other in others { exchange(other.type, other.offset, memory, queue) }
  }

  func release<Holder: ReferenceHolder>(
    _ type: Holder.Type, _ offset: Int, _ memory: StoredObject.Memory, _ queue: ReleaseQueue
  ) {
    memory.withValue(at: offset, as: type) { $0.release(into: queue) }
  }

  /// Puts the default of the property into its place.
  private func exchange<Value>(
    _ type: Value.Type, _ offset: Int, _ memory: StoredObject.Memory, _ queue: ReleaseQueue
  ) {
    guard let prototype else { return }
    let fresh = StoredObject.Memory(of: prototype.object).withValue(at: offset, as: type) { $0 }
    memory.withValue(at: offset, as: type) { value in
      queue.append(value)
      value = fresh
    }
  }
}

/// The runtime's count, which takes no reference of its own, as `_getRetainCount` may.
@_silgen_name("swift_retainCount")
@unsafe private func strongReferenceCount(_ object: UnsafeMutableRawPointer) -> Int
