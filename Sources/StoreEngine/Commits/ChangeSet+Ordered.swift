extension ChangeSet {
  /// The change of one key of an ordered table; key and value are one behind the other in
  /// ``ChangeSet/bytes``.
  ///
  /// It takes 16 bytes, because a save may have millions.
  public struct KeyChange: BitwiseCopyable, Sendable {
    /// Where the key begins, and in the two highest bits what is known of it.
    @usableFromInline let startAndPresence: UInt64
    @usableFromInline let keyCount: UInt32
    @usableFromInline let valueCount: UInt32

    @usableFromInline static let removal = UInt32.max
    @usableFromInline static let startMask: UInt64 = 1 << 62 - 1

    /// Puts a key with a value, whether the key is there or not.
    ///
    /// - Precondition: key and value are smaller than 2 GiB.
    public init(putting start: Int, keyCount: Int, valueCount: Int) {
      precondition(keyCount <= Int32.max && valueCount <= Int32.max, "a key of 2 GiB or more")
      (startAndPresence, self.keyCount) = (UInt64(start), UInt32(keyCount))
      self.valueCount = UInt32(valueCount)
    }

    /// Removes a key, if it is there.
    ///
    /// - Precondition: the key is smaller than 2 GiB.
    public init(removing start: Int, keyCount: Int) {
      precondition(keyCount <= Int32.max, "a key of 2 GiB or more")
      (startAndPresence, self.keyCount) = (UInt64(start), UInt32(keyCount))
      valueCount = Self.removal
    }

    private init(_ startAndPresence: UInt64, _ keyCount: UInt32, _ valueCount: UInt32) {
      self.startAndPresence = startAndPresence
      (self.keyCount, self.valueCount) = (keyCount, valueCount)
    }

    /// The same at another place, with what is known of the key.
    func moved(by shift: Int) -> KeyChange {
      // No place is before 0, so that nothing is borrowed from the two bits.
      KeyChange(startAndPresence &+ UInt64(bitPattern: Int64(shift)), keyCount, valueCount)
    }

    /// The same, saying whether the key was there before the save.
    ///
    /// Whoever alone writes to a table, and has looked, saves the backend from looking once more.
    package func knowing(wasThere: Bool) -> KeyChange {
      KeyChange(
        startAndPresence & Self.startMask | (wasThere ? 3 : 2) << 62, keyCount, valueCount)
    }

    /// Whether the key was there before the save; nil when nobody has said so.
    var wasThere: Bool? { startAndPresence >> 63 == 0 ? nil : startAndPresence >> 62 & 1 == 1 }

    /// Whether the key is removed.
    @inlinable public var isRemoval: Bool { valueCount == Self.removal }
    @inlinable package var start: Int { Int(startAndPresence & Self.startMask) }
    /// Where the key stands in ``ChangeSet/bytes``.
    @inlinable public var key: Range<Int> { start..<start + Int(keyCount) }
    /// Where the value stands; empty for a removal.
    @inlinable public var value: Range<Int> {
      key.upperBound..<key.upperBound + (isRemoval ? 0 : Int(valueCount))
    }
  }

  /// The changes of one ordered table.
  public struct OrderedTableChanges: Sendable {
    /// The table, as ``StoreBackend/orderedTable(_:)`` named it.
    public let table: OrderedTableID
    /// Whether all keys that are there are removed first.
    public var clearsFirst: Bool
    /// The changes; where a key comes twice, the later one counts.
    ///
    /// Sorted ones are the quickest.
    public var changes: [KeyChange]

    /// Describes the changes of one ordered table.
    public init(table: OrderedTableID, clearsFirst: Bool = false, changes: [KeyChange] = []) {
      (self.table, self.clearsFirst, self.changes) = (table, clearsFirst, changes)
    }

    /// Whether there is nothing to do.
    public var isEmpty: Bool { !clearsFirst && changes.isEmpty }
  }
}

extension ChangeSet {
  /// Adds the change of a key: its bytes go to the end of ``bytes``.
  ///
  /// Complexity: linear in the key and the value.
  ///
  /// - Precondition: key and value are smaller than 2 GiB. A backend refuses what has more than
  ///   ``maximumKeyByteCount`` together.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: Its value; nil removes the key.
  ///   - table: The table.
  public mutating func set(_ key: [UInt8], to value: [UInt8]?, in table: OrderedTableID) {
    let change = takeIn(key, value)
    ordered[indexOfChanges(of: table)].changes.append(change)
  }

  /// Takes in the bytes of a key and its value, nil to remove it, for the changes of a table.
  package mutating func takeIn(_ key: [UInt8], _ value: [UInt8]?) -> KeyChange {
    let start = bytes.count
    bytes += key
    guard let value else { return KeyChange(removing: start, keyCount: key.count) }
    bytes += value
    return KeyChange(putting: start, keyCount: key.count, valueCount: value.count)
  }

  /// Removes all keys of a table before what else happens to it.
  public mutating func clear(_ table: OrderedTableID) {
    ordered[indexOfChanges(of: table)].clearsFirst = true
  }

  private mutating func indexOfChanges(of table: OrderedTableID) -> Int {
    if let known = ordered.lastIndex(where: { $0.table == table }) { return known }
    ordered.append(OrderedTableChanges(table: table))
    return ordered.count - 1
  }
}
