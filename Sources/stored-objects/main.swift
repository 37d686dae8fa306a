import StoredObjectsCommands

StoredObjectsTool.run()
