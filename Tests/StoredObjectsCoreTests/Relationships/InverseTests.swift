import StoredObjectsCore
import StoredObjectsTestSupport
import Testing

@Suite("Inverses")
struct InverseTests {
  let disk = MemoryDisk()
  let store: Store
  let a = Tune("a")
  let b = Tune("b")
  let c = Tune("c")
  let x = TuneList("x")
  let y = TuneList("y")

  init() throws {
    store = try linkedStore(disk)
    for object in [a, b, c, x, y] { store.insert(object) }
    try store.saveChanges()
  }

  @Test("The other side follows inserts, removals and reassignment, with repeats")
  func edits() {
    x.tunes = [a, b, a]
    #expect(a.lists == [x, x] && b.lists == [x] && c.lists == [])
    y.tunes.append(a)
    #expect(a.lists == [x, x, y])
    x.tunes.remove(at: 0)
    #expect(a.lists == [x, y])
    x.tunes.insert(c, at: 1)
    #expect(c.lists == [x] && x.tunes == [b, c, a])
    x.tunes = [c]
    #expect(a.lists == [y] && b.lists == [] && c.lists == [x])
  }

  @Test("Either side can be edited")
  func eitherSide() {
    a.lists = [y, x, y]
    #expect(x.tunes == [a] && y.tunes == [a, a])
    b.lists.append(y)
    #expect(y.tunes == [a, a, b])
    a.lists.removeAll { $0 === y }
    #expect(y.tunes == [b] && x.tunes == [a])
  }

  @Test("On the other side, new objects are appended, and removed ones lose their last occurrence")
  func orderOfTheOtherSide() {
    a.lists = [x, y, x]
    x.tunes.removeFirst()
    #expect(a.lists == [x, y])
    x.tunes = [b, a, a, a]
    #expect(a.lists == [x, y, x, x])
    a.lists.removeFirst()
    #expect(x.tunes == [b, a, a])
  }

  @Test("A move changes the list and no other object")
  func move() throws {
    x.tunes = [a, b, c, a]
    try store.saveChanges()
    x.tunes.swapAt(0, 1)
    #expect(x.hasUnsavedChanges && x.tunes == [b, a, c, a])
    #expect(![a, b, c].contains { $0.hasUnsavedChanges })
    x.tunes.append(c)
    #expect(c.lists == [x, x] && c.hasUnsavedChanges && !a.hasUnsavedChanges)
  }

  @Test("Setting a reference to one object moves it from its former list")
  func toOne() throws {
    let (first, second) = (Disc(), Disc())
    store.insert(first)
    store.insert(second)
    first.tunes = [a, b]
    #expect(a.disc === first && b.disc === first)
    a.disc = second
    #expect(first.tunes == [b] && second.tunes == [a])
    second.tunes.append(b)
    #expect(first.tunes == [] && b.disc === second)
    b.disc = nil
    #expect(second.tunes == [a])
    let sleeve = Sleeve()
    store.insert(sleeve)
    sleeve.disc = first
    second.sleeve = sleeve
    #expect(sleeve.disc === second && first.sleeve == nil)
    second.tunes = []
    #expect(a.disc == nil)
  }

  @Test("Objects that are filled before they are inserted get their other side when inserted")
  func filledFirst() throws {
    let list = TuneList("z", [a, b, a])
    #expect(a.lists == [])
    store.insert(list)
    #expect(a.lists == [list, list] && b.lists == [list])
    let tune = Tune("d")
    tune.lists = [list]
    list.tunes.append(tune)
    store.insert(tune)
    #expect(tune.lists == [list] && list.tunes == [a, b, a, tune])
    try store.saveChanges()
    // Where the sides differ, the one that says more is believed.
    let (late, mix) = (Tune("e"), TuneList("q"))
    (late.lists, mix.tunes) = ([mix], [late, late])
    store.insert(late)
    store.insert(mix)
    #expect(mix.tunes == [late, late] && late.lists == [mix, mix])
    try store.saveChanges()
  }

  @Test("Only the objects that an edit adds or removes are read")
  func nothingElseIsLoaded() throws {
    x.tunes = [a, b, c]
    try store.saveChanges()
    store.refresh(a)
    store.refresh(b)
    store.refresh(c)
    x.tunes.remove(at: 1)
    try store.saveChanges()
    #expect(!a.hasContent && b.hasContent && !c.hasContent && b.lists == [])
  }

  @Test("A tree keeps its parents")
  func tree() {
    let branches = (0..<4).map { _ in Branch() }
    for branch in branches { store.insert(branch) }
    branches[0].children = [branches[1], branches[2]]
    branches[3].parent = branches[1]
    #expect(branches[1].parent === branches[0] && branches[1].children == [branches[3]])
    branches[3].parent = branches[0]
    #expect(branches[1].children == [] && branches[0].children.last === branches[3])
    branches[0].children.removeFirst()
    #expect(branches[1].parent == nil)
  }

  @Test("Classes can be registered one by one, and a refused one changes nothing")
  func registering() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Tune.self)
    #expect(throws: StoreError.self) { try store.register(TuneList.self, TuneList.self) }
    let (tune, list) = (Tune("d"), TuneList("z"))
    store.insert(tune)
    store.insert(list)
    list.tunes = [tune]
    #expect(tune.lists == [list])
    try store.register(Disc.self, Sleeve.self)
    let disc = Disc()
    store.insert(disc)
    tune.disc = disc
    #expect(disc.tunes == [tune])
    store.delete(disc)
    #expect(tune.isDeleted && list.tunes == [])
  }

  @Test("Both sides are one undo step")
  func undo() throws {
    let history = StoreUndoManager()
    store.undoManager = history
    history.group { x.tunes = [a, b, a] }
    history.group { x.tunes.reverse() }
    history.group { a.lists = [y] }
    #expect(x.tunes == [b] && y.tunes == [a])
    try history.undo()
    #expect(x.tunes == [a, b, a] && a.lists == [x, x] && y.tunes == [])
    try history.undo()
    try history.undo()
    #expect(x.tunes == [] && a.lists == [] && b.lists == [])
    while history.canRedo { try history.redo() }
    #expect(x.tunes == [b] && y.tunes == [a] && a.lists == [y])
  }

  @Test("Discarding resets both sides")
  func discard() throws {
    x.tunes = [a]
    store.discardChanges()
    #expect(x.tunes == [] && a.lists == [])
    y.tunes = [a]
    #expect(a.lists == [y])
  }

  @Test("Both sides are saved")
  func saved() throws {
    x.tunes = [a, b, a]
    y.tunes = [b, a]
    try store.saveChanges()
    store.dissolveAllRelationships()
    try store.backend.close()
    let second = try linkedStore(disk)
    let tune = try #require(try second.object(Tune.self, rowID: 2))
    #expect(tune.lists.map(\.name) == ["x", "x", "y"])
    #expect(tune.lists[2].tunes.map(\.name) == ["b", "a"])
  }

  @Test("After random edits, undo and saves of lists, both sides agree in their counts")
  func random() throws {
    var random = Seeds.generator(for: "InverseTests")
    let history = StoreUndoManager(levelsOfUndo: 0)
    store.undoManager = history
    let tunes = [a, b, c] + (0..<5).map { Tune("\($0)") }
    let lists = [x, y, TuneList("z")]
    for object in tunes[3...] { store.insert(object) }
    store.insert(lists[2])
    var model = lists.map { _ in [Tune]() }
    var past: [[[Tune]]] = []
    for _ in 0..<1_500 {
      let index = Int.random(in: 0..<3, using: &random)
      let tune = tunes.randomElement(using: &random)!
      let position = Int.random(in: 0...model[index].count, using: &random)
      let before = model
      switch Int.random(in: 0..<10, using: &random) {
      case 0...2:
        history.group { lists[index].tunes.insert(tune, at: position) }
        model[index].insert(tune, at: position)
      case 3:
        history.group { lists[index].tunes.removeAll { $0 === tune } }
        model[index].removeAll { $0 === tune }
      case 4:
        history.group { lists[index].tunes.sort { $0.name < $1.name } }
        model[index].sort { $0.name < $1.name }
      case 5:
        history.group { tune.lists.append(lists[index]) }
        model[index].append(tune)
      case 6:
        history.group { tune.lists = [] }
        for index in 0..<3 { model[index].removeAll { $0 === tune } }
      case 7:
        guard let last = past.popLast() else { continue }
        try history.undo()
        model = last
        continue
      case 8:
        try store.saveChanges()
        if Bool.random(using: &random) { for tune in tunes { store.refresh(tune) } }
        continue
      default:
        history.group {
          lists[index].tunes.append(tune)
          lists[(index + 1) % 3].tunes.append(tune)
        }
        model[index].append(tune)
        model[(index + 1) % 3].append(tune)
      }
      if history.undoActionNames.count > past.count { past.append(before) }
      #expect(lists.map(\.tunes) == model)
      for tune in tunes {
        for (list, entries) in zip(lists, model) {
          let count = entries.count { $0 === tune }
          try #require(tune.lists.count { $0 === list } == count)
        }
      }
    }
  }
}
