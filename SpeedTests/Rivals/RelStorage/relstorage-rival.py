"""Songs and playlists in ZODB on RelStorage: the workloads add, update and cold of zodbshootout.

    relstorage-rival.py URL WORKLOAD COUNT

Prints the time of each run in milliseconds. Install RelStorage in a virtual environment:

    python3 -m venv relstorage && relstorage/bin/pip install 'RelStorage[postgresql]==4.3.0'
"""
import gc
import sys
import time

import ZODB
import transaction
from persistent import Persistent
from persistent.list import PersistentList
from persistent.mapping import PersistentMapping
from psycopg2.extensions import make_dsn, parse_dsn
from relstorage.adapters.postgresql import PostgreSQLAdapter
from relstorage.options import Options
from relstorage.storage import RelStorage

TITLE = (
    "A song with a title that is long enough to make its record one hundred and twenty-eight bytes "
    "long in the end, as others"
)
PLAYLISTS, SONGS = 10, 100


class Song(Persistent):
    def __init__(self):
        self.title = TITLE
        self.seconds = 200


class Playlist(Persistent):
    def __init__(self):
        self.title = "A playlist"
        self.songs = PersistentList(Song() for _ in range(SONGS))


def lists():
    return PersistentMapping((number, Playlist()) for number in range(PLAYLISTS))


def songs(root):
    return [song for playlist in root["lists"].values() for song in playlist.songs]


def print_time(work):
    gc.collect()
    start = time.perf_counter()
    work()
    print((time.perf_counter() - start) * 1e3)


def add(connection, manager):
    manager.begin()
    connection.root()["lists"] = lists()
    manager.commit()


def update(connection, manager):
    manager.begin()
    for song in songs(connection.root()):
        song.seconds += 1
    manager.commit()


def read(connection, manager):
    manager.begin()
    total = sum(song.seconds + len(song.title) for song in songs(connection.root()))
    manager.abort()
    assert total == PLAYLISTS * SONGS * (200 + len(TITLE))


def main(url, workload, count):
    options = Options(keep_history=False)
    dsn = make_dsn(**parse_dsn(url))
    storage = RelStorage(PostgreSQLAdapter(dsn=dsn, options=options), options=options)
    database = ZODB.DB(storage, cache_size=100_000)
    manager = transaction.TransactionManager(explicit=True)
    connection = database.open(manager)
    add(connection, manager)
    if workload == "update":
        # The objects are in memory, as those of the others.
        songs(connection.root())
    work = {"add": add, "update": update, "cold": read}[workload]
    for _ in range(count):
        if workload == "cold":
            connection.cacheMinimize()
            storage._cache.clear()
        print_time(lambda: work(connection, manager))
    connection.close()
    database.close()


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
