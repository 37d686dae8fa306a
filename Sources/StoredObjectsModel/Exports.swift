@_exported public import StoredObjectsCore
