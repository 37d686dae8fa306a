// StoredObjectsCoreTests
