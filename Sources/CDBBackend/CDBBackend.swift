public import StoreEngine

/// A backend that keeps a store in a directory, with one constant database for each class.
///
///     let backend = try CDBBackend(directory: "Music")
///     let store = Store(backend: backend)
///
/// A class `Song` is in `Song.cdb`, whose keys are derived from row IDs and whose values are
/// records. The keys of `NamedBuffers.cdb` are names. A class that was never saved has no file.
/// `Commit.log` contains the saves that are not in these files yet. A save costs one write to the
/// log, and from time to time a checkpoint writes the files of the classes that have changed; see
/// `LoggedBackend`.
///
/// The files are mapped into memory, and records are read in place: nothing is copied, and no lock
/// is held meanwhile. Files are never changed in place, so each is complete at any moment.
///
/// Safe on any thread.
public typealias CDBBackend = LoggedBackend<CDBClassFormat>

/// The constant databases of a store's directory, below its commit log.
public typealias CDBFiles = ClassFiles<CDBClassFormat>
