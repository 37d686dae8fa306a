/// The limit of an operation, in all its repetitions together.
struct Limit: Sendable {
  let operation: String
  let most: Counts
  /// Performs the operation in a new directory.
  let measure: @Sendable (Operations) throws -> Counts
}

/// The limits to check.
///
/// The limits are the counts at the time when they were set, plus a tenth for allocations and
/// bytes. Lower them when an operation needs less; raise one only with a reason, and state it.
let limits = [
  // The log doubles from 64 KiB on, twice during the test: zeros in two writes each, and a sync.
  // The changes of a save are kept with its ordered tables, and can be sealed: three allocations.
  Limit(
    operation: "1,000 small saves",
    most: Counts(
      allocations: 28_000, opens: 0, writes: 1_010, bytes: 4_500_000, syncs: 1_005, renames: 0),
    measure: { try $0.smallSaves(1_000) }),
  // Two class files are written natively, by writes that count. The manifest, which lists them, is
  // written at the opening and again with the save: two files, each with a rename and two syncs.
  // The new log is filled with zeros by 16 writes: with a single write, Linux would keep it in
  // large pages, and would go through all of them at each small write without a sync. A class file
  // is written half a MiB at a time, 10 times here, which takes less memory than gathering 8 MiB
  // first. The file of the named buffers, which contains the layouts, takes two openings and a
  // rename. Of the 22 openings, 11 are relative to the locked directory, which is listed and
  // synced, and in which the marks of new files are read. Two more find that a file does not exist
  // yet, where the system was previously asked whether it exists.
  Limit(
    operation: "insert 100,000, one save",
    most: Counts(
      allocations: 108_000, opens: 22, writes: 34, bytes: 6_850_000, syncs: 15, renames: 5),
    measure: { try $0.insert(100_000) }),
  Limit(
    operation: "fetch all of 100,000",
    most: Counts(
      allocations: 113_000, opens: 0, writes: 0, bytes: 0, syncs: 0, renames: 0),
    measure: {
      _ = try $0.insert(100_000)
      return try $0.fetchAll()
    }),
  Limit(
    operation: "10,000 look-ups of 100,000",
    most: Counts(
      allocations: 10_500, opens: 0, writes: 0, bytes: 0, syncs: 0, renames: 0),
    measure: {
      _ = try $0.insert(100_000)
      return try $0.lookUp(10_000)
    }),
  // Two of the openings list the directory, to find leftovers of a dead writer. They go through the
  // open directory, so that they are counted. The mark of each of the two files is read, and the
  // file is opened for that: a file of another moment must be recognized before anything is read
  // from it. Paths relative to the directory, and marks, took 85 allocations more (273, before
  // 188); the layouts of the class and their file took 33 more. The count differs by up to three
  // between openings of the same store, from 339 to 342.
  Limit(
    operation: "open and close, 100,000",
    most: Counts(
      allocations: 345, opens: 12, writes: 0, bytes: 0, syncs: 0, renames: 0),
    measure: {
      _ = try $0.insert(100_000)
      return try $0.openAndClose()
    }),
]
