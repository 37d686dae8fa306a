/// A query, ready to be compared with texts: its patterns, each once, and how they belong together.
struct CompiledQuery {
  indirect enum Node {
    case pattern(Int)
    case all([Node])
    case any([Node])
    case not(Node)
  }

  private(set) var patterns: [TextPattern] = []
  /// Nil when there is nothing to search for.
  private(set) var root: Node?

  init(_ query: TextQuery) { root = compile(query.node) }

  private mutating func compile(_ node: TextQuery.Node) -> Node? {
    switch node {
    case .nothing: return nil
    case .text(let text, let start, let end):
      return TextPattern(text, from: start, to: end).map { .pattern(number(of: $0)) }
    case .all(let parts): return join(parts, Node.all)
    case .any(let parts): return join(parts, Node.any)
    case .not(let part): return compile(part).map(Node.not)
    }
  }

  private mutating func join(_ parts: [TextQuery.Node], _ make: ([Node]) -> Node) -> Node? {
    var nodes: [Node] = []
    for part in parts { if let node = compile(part) { nodes.append(node) } }
    return nodes.count > 1 ? make(nodes) : nodes.first
  }

  private mutating func number(of pattern: TextPattern) -> Int {
    if let known = patterns.firstIndex(of: pattern) { return known }
    patterns.append(pattern)
    return patterns.count - 1
  }

  /// The score of an object by the scores of the patterns, of which those that are not in it have none;
  /// nil when it does not match.
  func score(_ scores: [Double?]) -> Double? { root.flatMap { Self.score($0, scores) } }

  private static func score(_ node: Node, _ scores: [Double?]) -> Double? {
    switch node {
    case .pattern(let number): return scores[number]
    case .not(let part): return score(part, scores) == nil ? 0 : nil
    case .all(let parts):
      var sum = 0.0
      for part in parts {
        guard let score = score(part, scores) else { return nil }
        sum += score
      }
      return sum
    case .any(let parts):
      var sum: Double?
      for part in parts { if let score = score(part, scores) { sum = (sum ?? 0) + score } }
      return sum
    }
  }

  /// The numbers of patterns that every match has.
  var required: [Int] {
    switch root {
    case .pattern(let number): return [number]
    case .all(let parts):
      return parts.compactMap { if case .pattern(let number) = $0 { number } else { nil } }
    default: return []
    }
  }

  /// The patterns that a match has, not those that it is without.
  var wanted: [TextPattern] {
    var numbers: Set<Int> = []
    if let root { Self.collect(root, isWanted: true, &numbers) }
    return numbers.sorted().map { patterns[$0] }
  }

  private static func collect(_ node: Node, isWanted: Bool, _ numbers: inout Set<Int>) {
    switch node {
    case .pattern(let number): if isWanted { numbers.insert(number) }
    case .not(let part): collect(part, isWanted: !isWanted, &numbers)
    case .all(let parts), .any(let parts):
      for part in parts { collect(part, isWanted: isWanted, &numbers) }
    }
  }
}
