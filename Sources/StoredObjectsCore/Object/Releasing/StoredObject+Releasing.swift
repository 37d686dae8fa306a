import StoreEngine

extension StoredObject {
  /// Moves the references of an object that is being freed into the release queue.
  ///
  /// The properties of a subclass are destroyed after this, so the references that are moved here
  /// are not released there.
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

    /// Refers to the memory of an object.
    ///
    /// - Precondition: the object exists for as long as its memory is used.
    init(of object: StoredObject) {
      unsafe start = Unmanaged.passUnretained(object).toOpaque()
    }

    /// The number of strong references to the object.
    var holderCount: Int { unsafe strongReferenceCount(start) }

    /// Calls a closure with the value of a property, in place.
    ///
    /// - Precondition: the property has the type.
    func withValue<Value, Result>(
      at offset: Int, as type: Value.Type, _ body: (inout Value) -> Result
    ) -> Result {
      unsafe body(&(start + offset).assumingMemoryBound(to: type).pointee)
    }
  }
}

extension ReferenceLayout {
  /// Whether an object may hold the only reference to something.
  fileprivate func mayRelease(_ memory: StoredObject.Memory) -> Bool {
    if !holders.isEmpty || !others.isEmpty { return true }
    return references.contains { reference in
      memory.withValue(at: reference.offset, as: AnyObject?.self) { isKnownUniquelyReferenced(&$0) }
    }
  }

  /// Moves everything that an object holds into a queue.
  func release(_ memory: StoredObject.Memory, into queue: ReleaseQueue) {
    for reference in references {
      memory.withValue(at: reference.offset, as: AnyObject?.self) { object in
        // An object with other references is not freed with this one.
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

  /// Replaces the value of a property by its default.
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

/// Returns the runtime's reference count without retaining the object, as `_getRetainCount` may.
@_silgen_name("swift_retainCount")
@unsafe private func strongReferenceCount(_ object: UnsafeMutableRawPointer) -> Int
