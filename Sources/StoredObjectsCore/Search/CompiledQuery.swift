import StoreEngine

/// A query, ready to be compared with texts: its patterns, each once, and how they belong together.
///
/// How they belong together is a list of steps, each on what the steps before it have left, so that
/// neither compiling nor comparing takes a deeper stack for a deeper query.
struct CompiledQuery {
  enum Step {
    /// Leaves the score of a pattern.
    case pattern(Int)
    /// Replaces so many scores by one.
    case all(Int)
    case any(Int)
    /// Replaces one.
    case not
  }

  private(set) var patterns: [TextPattern] = []
  /// None when there is nothing to search for.
  private(set) var steps: [Step] = []
  private var numbers: [TextPattern: Int] = [:]

  /// Complexity: linear in the size of the query.
  init(_ query: TextQuery) { compile(query.node) }

  /// Whether there is nothing to search for.
  var isEmpty: Bool { steps.isEmpty }

  // MARK: Compiling

  /// A part whose own parts are being compiled.
  private struct Frame {
    let node: TextQuery.Node
    var next = 0
    /// How many of its parts there was something to search for in.
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

  /// Adds the step of a part whose own parts have theirs; false when there is nothing in it.
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

  /// Returns the score of an object, or nil when it does not match.
  ///
  /// It goes by the scores of the patterns, of which those that are not in the object have none.
  /// The stack is memory that is used again from object to object.
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

  /// The score of an object that has none of the patterns; nil when it does not match.
  var scoreOfNothing: Double? {
    var stack: [Double?] = []
    return score([Double?](repeating: nil, count: patterns.count), &stack)
  }

  // MARK: What is looked for

  /// The numbers of patterns that every match has.
  var required: [Int] {
    var numbers: Set<Int> = []
    // From the last step to the first, which comes to a part before its own parts.
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

  /// The patterns that a match has, not those that it is without.
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
