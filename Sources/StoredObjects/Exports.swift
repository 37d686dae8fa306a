@_exported public import StoredObjectsCore
@_exported public import TokyoCabinetBackend
