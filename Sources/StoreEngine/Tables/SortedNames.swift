/// Values by name, in the order of the names.
///
/// Not a dictionary, because it is read at each opening of a store. Before the first dictionary with
/// a type of key is made, the runtime searches all conformances of the program for that of the key,
/// which takes 40 us.
struct SortedNames<Value> {
  private(set) var names: [String] = []
  private var values: [Value] = []

  /// The value of a name; nil if there is none.
  ///
  /// Complexity: logarithmic in the number of names. A change moves the values of later names.
  subscript(name: String) -> Value? {
    get {
      let index = index(of: name)
      return isName(name, at: index) ? values[index] : nil
    }
    set {
      let index = index(of: name)
      switch (isName(name, at: index), newValue) {
      case (true, let value?): values[index] = value
      case (true, nil):
        names.remove(at: index)
        values.remove(at: index)
      case (false, let value?):
        names.insert(name, at: index)
        values.insert(value, at: index)
      case (false, nil): break
      }
    }
  }

  /// Whether there is a value for a name.
  ///
  /// Complexity: logarithmic in the number of names.
  func contains(_ name: String) -> Bool { isName(name, at: index(of: name)) }

  private func isName(_ name: String, at index: Int) -> Bool {
    index < names.count && names[index] == name
  }

  /// Returns the index of the first name that is not before another.
  private func index(of name: String) -> Int {
    var (low, high) = (0, names.count)
    while low < high {
      let middle = (low + high) / 2
      if names[middle] < name { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension SortedNames: Sendable where Value: Sendable {}
extension SortedNames: Equatable where Value: Equatable {}
