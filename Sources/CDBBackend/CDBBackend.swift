public import StoreEngine

/// Keeps a store in a directory with one constant database for each class.
///
///     let backend = try CDBBackend(directory: "Music")
///     let store = Store(backend: backend)
///
/// A class `Song` is in `Song.cdb`, whose keys are made of row IDs and whose values are records;
/// `NamedBuffers.cdb` has names for keys. A class that was never saved has no file. `Commit.log`
/// holds the saves that are not in these files yet: a save costs one write to the log, and a
/// checkpoint every so often writes the files of the classes that have changed; see
/// `LoggedBackend`.
///
/// The files are mapped into memory, and records are lent where they are: nothing is copied, and no
/// lock held meanwhile. They are never changed in place, so that each is whole at any moment.
///
/// Safe on any threads.
public typealias CDBBackend = LoggedBackend<CDBFiles>

/// The constant databases of a store's directory, under its commit log.
public typealias CDBFiles = ClassFiles<CDBClassFormat>
