import Locks
package import StoreEngine

extension KeyValueStore: ItemKeeper {
  package func whileResting<Result>(
    _ body: (inout ChangeSet?) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try checkProcess()
    turn.lock()
    defer { turn.unlock() }
    writesUnderWay.waitForAll()
    var changes: ChangeSet?
    let result = try body(&changes)
    if let changes {
      publishForeign(changes)
      readListAgain()
    }
    return result
  }
}
