#!/usr/bin/env python3
"""Every fault against the real daemon, one after another; prints fault x outcome and ends with status
1 when one fails. chaos.py [--quick] [NAME...]: --quick is the short form, some side by side."""
import concurrent.futures, os, pathlib, random, subprocess, sys, time, traceback
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
    faults_files.index_lost, faults_files.database_bad, faults_files.database_pages,
    faults_files.wal_left, faults_files.wal_deleted, faults_files.spool_half_written,
    faults_memory.memory_parsers, faults_memory.memory_writer, faults_memory.memory_workers,
]

# Not in the short form: the same parts of the program are met by others, or they take their time.
LONG = [faults_process.term_under_load, faults_process.clock_jumps, faults_process.child_hangs,
        faults_process.child_out_of_memory, faults_process.child_killed, faults_disk.eio_database,
        faults_disk.eio_checkpoint, faults_disk.eio_read, faults_disk.eio_symbol_store,
        faults_disk.read_only_start, faults_disk.slow, faults_folder.folder_removed,
        faults_folder.wal_unlinked, faults_folder.shm_removed, faults_folder.spool_removed,
        faults_upkeep.migration_killed, faults_files.index_damaged_live, faults_files.index_cut,
        faults_files.index_lost, faults_files.wal_left, faults_files.wal_deleted, faults_memory.memory_writer,
        faults_memory.memory_workers]
SIDE_BY_SIDE = 6 # of the short form, which mostly waits


def run(fault, quick):
    random.seed(fault.__name__)
    began = time.monotonic()
    try:
        said, failed = fault(quick) or '', False
    except Exception as e:
        said, failed = '%s: %s' % (type(e).__name__, str(e)[:400].replace('\n', ' ')), True
        traceback.print_exc()
    status = 'FAILED' if failed else 'ok'
    print('%-24s %-7s %6.1f s  %s' % (fault.__name__, status, time.monotonic() - began, said), flush=True)
    return failed


def run_apart(fault):
    """In a process of its own; what it said comes in one piece."""
    done = subprocess.run([sys.executable, '-B', __file__, '--quick', fault.__name__],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = done.stdout.splitlines()[:-1] # but for the sum
    print('\n'.join(lines[-1:] if done.returncode == 0 else lines), flush=True)
    return done.returncode != 0


def main(names, quick=False):
    unknown = set(names) - {f.__name__ for f in FAULTS}
    assert not unknown, 'no such fault: %s' % ' '.join(sorted(unknown))
    faults = [f for f in FAULTS if f.__name__ in names or not names and not (quick and f in LONG)]
    began = time.monotonic()
    if quick and len(faults) > 1:
        with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            outcomes = list(pool.map(run_apart, faults))
    else:
        outcomes = [run(f, quick) for f in faults]
    failed = [f.__name__ for f, bad in zip(faults, outcomes) if bad]
    print('%d faults, %d failed, %.0f s%s' % (len(faults), len(failed), time.monotonic() - began,
                                              ': ' + ' '.join(failed) if failed else ''))
    return 1 if failed else 0


if __name__ == '__main__':
    arguments = sys.argv[1:]
    status = main([a for a in arguments if a != '--quick'], '--quick' in arguments)
    sys.stdout.flush()
    os._exit(status) # threads of a fault that failed may hang on
