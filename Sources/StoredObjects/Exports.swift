@_exported public import StoredObjectsModel
@_exported public import TokyoCabinetBackend
