import Files

/// The name of a buffer, compared by its bytes.
///
/// Swift considers strings equal if they look the same to a reader, such as an é in one scalar and
/// in two. In a file they are two keys, so they are two names everywhere.
package struct ExactName: Hashable, Sendable, Comparable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: ExactName, right: ExactName) -> Bool {
    left.text.lendUTF8 { left in right.text.lendUTF8 { left.hasSameBytes(as: $0) } }
  }

  package static func < (left: ExactName, right: ExactName) -> Bool {
    left.text.lendUTF8 { left in right.text.lendUTF8 { left.compare($0) < 0 } }
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(text.lendUTF8 { $0.keyHash })
  }

  /// The hash for a set or a dictionary, which need not be hashed a second time: it has a seed of
  /// its own, see `keyHash`.
  package func _rawHashValue(seed: Int) -> Int {
    text.lendUTF8 { Int(truncatingIfNeeded: $0.keyHash(seed: UInt64(truncatingIfNeeded: seed))) }
  }
}

extension ExactName {
  /// Returns the indices of some names in the order of their bytes.
  ///
  /// Complexity: that of ``KeyOrder``.
  ///
  /// - Parameters:
  ///   - count: The number of names.
  ///   - name: Returns a name by its index.
  /// - Returns: The indices in the order of the names.
  package static func indicesInOrder(_ count: Int, _ name: (Int) -> String) -> [Int] {
    var bytes: [UInt8] = []
    var ends: [Int] = []
    ends.reserveCapacity(count)
    for index in 0..<count {
      name(index).lendUTF8 { bytes.append(copying: $0) }
      ends.append(bytes.count)
    }
    return Array(
      KeyOrder.indices(count: ends.count, in: bytes) {
        ($0 == 0 ? 0 : ends[$0 - 1])..<ends[$0]
      })
  }
}
