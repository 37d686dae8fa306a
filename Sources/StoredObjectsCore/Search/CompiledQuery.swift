import StoreEngine

/// A query compiled for matching: its distinct patterns, and the steps that combine them.
///
/// Each step works on the results of the steps before it. So neither compiling nor matching needs a
/// deeper call stack for a deeper query.
struct CompiledQuery {
  enum Step {
    /// Pushes the score of a pattern.
    case pattern(Int)
    /// Replaces a number of scores by one.
    case all(Int)
    case any(Int)
    /// Replaces one score.
    case not
  }

  private(set) var patterns: [TextPattern] = []
  /// The steps; empty if there is nothing to search for.
  private(set) var steps: [Step] = []
  private var numbers: [TextPattern: Int] = [:]

  /// Compiles a query.
  ///
  /// Complexity: Linear in the size of the query.
  init(_ query: TextQuery) { compile(query.node) }

  /// Whether there is nothing to search for.
  var isEmpty: Bool { steps.isEmpty }

  // MARK: Compiling

  /// A node whose parts are being compiled.
  private struct Frame {
    let node: TextQuery.Node
    var next = 0
    /// The number of parts that contain something to search for.
    var count = 0
  }

  private mutating func compile(_ root: TextQuery.Node) {
    var frames = [Frame(node: root)]
    while let frame = frames.last {
      let top = frames.count - 1
      if frame.next < frame.node.parts.count {
        frames[top].next += 1
        frames.append(Frame(node: frame.node.parts[frame.next]))
        continue
      }
      frames.removeLast()
      if end(frame), top > 0 { frames[top - 1].count += 1 }
    }
  }

  /// Adds the step of a node after those of its parts; returns false if the node is empty.
  private mutating func end(_ frame: Frame) -> Bool {
    switch frame.node.kind {
    case .nothing: return false
    case .text(let text, let start, let end):
      guard let pattern = TextPattern(text, from: start, to: end) else { return false }
      steps.append(.pattern(number(of: pattern)))
      return true
    case .all: if frame.count > 1 { steps.append(.all(frame.count)) }
    case .any: if frame.count > 1 { steps.append(.any(frame.count)) }
    case .not: if frame.count > 0 { steps.append(.not) }
    }
    return frame.count > 0
  }

  private mutating func number(of pattern: TextPattern) -> Int {
    if let known = numbers[pattern] { return known }
    numbers[pattern] = patterns.count
    patterns.append(pattern)
    return patterns.count - 1
  }

  // MARK: Comparing

  /// Returns the score of an object, or nil if it does not match.
  ///
  /// `scores` has the scores of the patterns, nil for those that are not in the object. `stack` is
  /// memory that is reused from object to object.
  func score(_ scores: [Double?], _ stack: inout [Double?]) -> Double? {
    // Most queries are one pattern, or all of a few.
    if steps.count == 1, case .pattern(let number) = steps[0] { return scores[number] }
    stack.removeAll(keepingCapacity: true)
    for step in steps {
      switch step {
      case .pattern(let number): stack.append(scores[number])
      case .not: stack.append(stack.removeLast() == nil ? 0 : nil)
      case .all(let count): Self.join(&stack, count, all: true)
      case .any(let count): Self.join(&stack, count, all: false)
      }
    }
    return stack.last ?? nil
  }

  private static func join(_ stack: inout [Double?], _ count: Int, all: Bool) {
    var sum = 0.0
    var found = 0
    for score in stack[(stack.count - count)...] {
      if let score {
        sum += score
        found += 1
      }
    }
    stack.removeLast(count)
    stack.append(found == count || found > 0 && !all ? sum : nil)
  }

  /// The score of an object that has none of the patterns; nil if it does not match.
  var scoreOfNothing: Double? {
    var stack: [Double?] = []
    return score([Double?](repeating: nil, count: patterns.count), &stack)
  }

  // MARK: Required and wanted patterns

  /// The numbers of the patterns that every match has.
  var required: [Int] {
    var numbers: Set<Int> = []
    // The steps in reverse order visit a node before its parts.
    var flags = [true]
    for step in steps.reversed() {
      let isRequired = flags.popLast() ?? false
      switch step {
      case .pattern(let number): if isRequired { numbers.insert(number) }
      case .all(let count): flags += repeatElement(isRequired, count: count)
      case .any(let count): flags += repeatElement(false, count: count)
      case .not: flags.append(false)
      }
    }
    return numbers.sorted()
  }

  /// The patterns that a match has, as opposed to those that it must not have.
  var wanted: [TextPattern] {
    var numbers: Set<Int> = []
    var flags = [true]
    for step in steps.reversed() {
      let isWanted = flags.popLast() ?? false
      switch step {
      case .pattern(let number): if isWanted { numbers.insert(number) }
      case .all(let count), .any(let count): flags += repeatElement(isWanted, count: count)
      case .not: flags.append(!isWanted)
      }
    }
    return numbers.sorted().map { patterns[$0] }
  }
}
