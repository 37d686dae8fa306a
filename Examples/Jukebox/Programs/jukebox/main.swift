import JukeboxCommands

await Jukebox.start()
