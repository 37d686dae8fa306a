extension ChangeSet {
  /// The change of one key of an ordered table; the value follows the key in ``ChangeSet/bytes``.
  ///
  /// It takes 16 bytes, because a save may have millions.
  public struct KeyChange: BitwiseCopyable, Sendable {
    /// The start of the key; the two highest bits encode whether the key was there before.
    @usableFromInline let startAndPresence: UInt64
    @usableFromInline let keyCount: UInt32
    @usableFromInline let valueCount: UInt32

    @usableFromInline static let removal = UInt32.max
    @usableFromInline static let startMask: UInt64 = 1 << 62 - 1

    /// Creates a change that sets the value of a key, whether the key exists or not.
    ///
    /// - Precondition: Key and value are smaller than 2 GiB.
    public init(putting start: Int, keyCount: Int, valueCount: Int) {
      precondition(keyCount <= Int32.max && valueCount <= Int32.max, "a key of 2 GiB or more")
      (startAndPresence, self.keyCount) = (UInt64(start), UInt32(keyCount))
      self.valueCount = UInt32(valueCount)
    }

    /// Creates a change that sets the value of a key that does not exist.
    init(puttingNew start: Int, keyCount: Int, valueCount: Int) {
      self = KeyChange(putting: start, keyCount: keyCount, valueCount: valueCount)
        .knowing(wasThere: false)
    }

    /// Creates a change that removes a key if it exists.
    ///
    /// - Precondition: The key is smaller than 2 GiB.
    public init(removing start: Int, keyCount: Int) {
      precondition(keyCount <= Int32.max, "a key of 2 GiB or more")
      (startAndPresence, self.keyCount) = (UInt64(start), UInt32(keyCount))
      valueCount = Self.removal
    }

    private init(_ startAndPresence: UInt64, _ keyCount: UInt32, _ valueCount: UInt32) {
      self.startAndPresence = startAndPresence
      (self.keyCount, self.valueCount) = (keyCount, valueCount)
    }

    /// Returns the same change at another position, with the same knowledge of the key.
    func moved(by shift: Int) -> KeyChange {
      // No position is negative, so that nothing is borrowed from the two bits.
      KeyChange(startAndPresence &+ UInt64(bitPattern: Int64(shift)), keyCount, valueCount)
    }

    /// Returns the same change with the information whether the key existed before the save.
    ///
    /// A sole writer to a table that has already looked saves the backend another look-up.
    package func knowing(wasThere: Bool) -> KeyChange {
      KeyChange(
        startAndPresence & Self.startMask | (wasThere ? 3 : 2) << 62, keyCount, valueCount)
    }

    /// Whether the key existed before the save; nil if that is not known.
    var wasThere: Bool? { startAndPresence >> 63 == 0 ? nil : startAndPresence >> 62 & 1 == 1 }

    /// Whether the key is removed.
    @inlinable public var isRemoval: Bool { valueCount == Self.removal }
    @inlinable package var start: Int { Int(startAndPresence & Self.startMask) }
    /// The range of the key in ``ChangeSet/bytes``.
    @inlinable public var key: Range<Int> { start..<start + Int(keyCount) }
    /// The range of the value in ``ChangeSet/bytes``; empty for a removal.
    @inlinable public var value: Range<Int> {
      key.upperBound..<key.upperBound + (isRemoval ? 0 : Int(valueCount))
    }
  }

  /// The changes of one ordered table.
  public struct OrderedTableChanges: Sendable {
    /// The table, as returned by ``StoreBackend/orderedTable(_:)``.
    public let table: OrderedTableID
    /// Whether all existing keys are removed first.
    public var clearsFirst: Bool
    /// The changes; if a key occurs twice, the later change counts.
    ///
    /// Sorted changes are the fastest.
    public var changes: [KeyChange]

    /// Creates the changes of one ordered table.
    public init(table: OrderedTableID, clearsFirst: Bool = false, changes: [KeyChange] = []) {
      (self.table, self.clearsFirst, self.changes) = (table, clearsFirst, changes)
    }

    /// Whether there is nothing to change.
    public var isEmpty: Bool { !clearsFirst && changes.isEmpty }
  }
}

extension ChangeSet {
  /// Adds the change of a key, and appends its bytes to ``bytes``.
  ///
  /// Complexity: linear in the key and the value.
  ///
  /// - Precondition: Key and value are smaller than 2 GiB. A backend refuses a key and value that
  ///   together have more than ``maximumKeyByteCount``.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: Its value; nil removes the key.
  ///   - table: The table.
  public mutating func set(_ key: [UInt8], to value: [UInt8]?, in table: OrderedTableID) {
    let change = takeIn(key, value)
    ordered[indexOfChanges(of: table)].changes.append(change)
  }

  /// Sets a key that the table does not contain.
  mutating func setNew(_ key: [UInt8], to value: [UInt8], in table: OrderedTableID) {
    addNew(key + value, keyCount: key.count, in: table)
  }

  /// Sets a key that the table does not contain, by its bytes and those of its value behind them.
  mutating func addNew(_ new: [UInt8], keyCount: Int, in table: OrderedTableID) {
    let change = KeyChange(
      puttingNew: bytes.count, keyCount: keyCount, valueCount: new.count - keyCount)
    bytes += new
    ordered[indexOfChanges(of: table)].changes.append(change)
  }

  /// Appends the bytes of a key and its value, nil to remove it, for the changes of a table.
  package mutating func takeIn(_ key: [UInt8], _ value: [UInt8]?) -> KeyChange {
    let start = bytes.count
    bytes += key
    guard let value else { return KeyChange(removing: start, keyCount: key.count) }
    bytes += value
    return KeyChange(putting: start, keyCount: key.count, valueCount: value.count)
  }

  /// Removes all keys of a table before its other changes.
  ///
  /// Complexity: linear in the number of ordered tables in the change set.
  public mutating func clear(_ table: OrderedTableID) {
    ordered[indexOfChanges(of: table)].clearsFirst = true
  }

  private mutating func indexOfChanges(of table: OrderedTableID) -> Int {
    if let known = ordered.lastIndex(where: { $0.table == table }) { return known }
    ordered.append(OrderedTableChanges(table: table))
    return ordered.count - 1
  }
}
