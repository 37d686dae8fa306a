import ArgumentParser
import StoredObjects

struct UndoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Undo the last change.",
    discussion: "You can undo the last 20 changes, one by one, the newest first.")

  @OptionGroup var options: StoreOptions

  func run() throws {
    let (name, next) = try options.step { history in
      guard let name = history.undoActionName else { throw Failure("There is nothing to undo.") }
      try history.undo()
      return (name, history.undoActionName)
    }
    try Output.print("Undone: \(name).\(next.map { " Before that: \($0)." } ?? "")")
  }
}

struct RedoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "redo", abstract: "Redo the change that the last undo has undone.")

  @OptionGroup var options: StoreOptions

  func run() throws {
    let name = try options.step { history in
      guard let name = history.redoActionName else { throw Failure("There is nothing to redo.") }
      try history.redo()
      return name
    }
    try Output.print("Redone: \(name).")
  }
}
