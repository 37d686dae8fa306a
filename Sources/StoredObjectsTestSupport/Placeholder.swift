// StoredObjectsTestSupport
