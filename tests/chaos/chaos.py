#!/usr/bin/env python3
"""Every fault against the real daemon, one after another; prints fault x outcome and ends with status
1 when one fails. chaos.py [--quick] [NAME...]"""
import os, pathlib, random, sys, time, traceback
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import faults_disk, faults_files, faults_folder, faults_memory, faults_process, faults_upkeep

FAULTS = [
    faults_process.kill_9, faults_process.term_under_load, faults_process.two_daemons,
    faults_process.child_crashes, faults_process.child_killed, faults_process.child_hangs,
    faults_process.child_out_of_memory,
    faults_process.clock_jumps, faults_process.clock_back_under_load,
    faults_process.no_descriptors,
    faults_disk.disk_full, faults_disk.read_only, faults_disk.read_only_start, faults_disk.eio_wal,
    faults_disk.eio_database,
    faults_disk.eio_checkpoint, faults_disk.eio_read, faults_disk.eio_spool,
    faults_disk.eio_symbol_store,
    faults_disk.slow, faults_disk.short_writes, faults_disk.power_cut,
    faults_folder.folder_moved, faults_folder.folder_removed, faults_folder.wal_unlinked,
    faults_folder.wal_cut, faults_folder.shm_removed, faults_folder.spool_removed,
    faults_upkeep.migration_killed, faults_upkeep.migration_disk_full, faults_upkeep.backup_killed,
    faults_upkeep.retention_killed,
    faults_files.index_damaged, faults_files.index_damaged_live, faults_files.index_cut,
    faults_files.database_bad, faults_files.database_pages,
    faults_files.wal_left, faults_files.wal_deleted, faults_files.spool_half_written,
    faults_memory.memory_parsers, faults_memory.memory_writer, faults_memory.memory_workers,
]

# Not in the short form: the same parts of the program are met by others, or they take their time.
LONG = [faults_process.term_under_load, faults_process.clock_jumps, faults_process.child_hangs,
        faults_process.child_out_of_memory, faults_disk.eio_database, faults_disk.eio_checkpoint,
        faults_disk.eio_read, faults_disk.eio_symbol_store, faults_disk.read_only_start,
        faults_memory.memory_writer]


def run(fault, quick):
    began = time.monotonic()
    try:
        said, status = fault(quick) or '', 'ok'
    except Exception as e:
        said, status = '%s: %s' % (type(e).__name__, str(e)[:400].replace('\n', ' ')), 'FAILED'
        traceback.print_exc()
    row = (fault.__name__, status, time.monotonic() - began, said)
    print('%-24s %-7s %6.1f s  %s' % row, flush=True)
    return row


def main(names, quick=False):
    random.seed(20261130)
    unknown = set(names) - {f.__name__ for f in FAULTS}
    assert not unknown, 'no such fault: %s' % ' '.join(sorted(unknown))
    rows = [run(f, quick) for f in FAULTS
            if f.__name__ in names or not names and not (quick and f in LONG)]
    failed = [row[0] for row in rows if row[1] != 'ok']
    print('%d faults, %d failed, %.0f s%s' % (len(rows), len(failed), sum(row[2] for row in rows),
                                              ': ' + ' '.join(failed) if failed else ''))
    return 1 if failed else 0


if __name__ == '__main__':
    arguments = sys.argv[1:]
    status = main([a for a in arguments if a != '--quick'], '--quick' in arguments)
    sys.stdout.flush()
    os._exit(status) # threads of a fault that failed may hang on
