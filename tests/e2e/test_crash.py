#!/usr/bin/env python3
"""kill -9 (and TERM) at random moments of reports, uploads, deletions and re-symbolication, again and
again on one folder. Whatever was answered is there once; the same reports and dSYM in another order
make the same clusters. CRASH_SECONDS (default 20) is how long, SEED which moments.

Covers: server/daemon.c storage/sqlite_*.c server/jobs/writer.c server/jobs/indexer.c
server/jobs/resolver.c"""
import os, random, signal, time
from daemon import Daemon
from traffic import (DEMO, Traffic, body, check_database, check_sums, clusters, has_stack,
                     left_behind, report)

SECONDS = float(os.environ.get('CRASH_SECONDS', '20'))
SEED = int(os.environ.get('SEED', '20261129'))


def crash_again_and_again(d):
    rounds, end, number = [], time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        traffic = Traffic(d, 'round%d' % number)
        rounds.append(traffic)
        time.sleep(random.uniform(0.02, 0.5))
        how = signal.SIGTERM if number % 5 == 4 else signal.SIGKILL
        begin = time.monotonic()
        status = d.stop(how)
        took = time.monotonic() - begin
        traffic.end()
        if how == signal.SIGTERM:
            assert status == 0 and took < 5, (status, took)
        if number % 8 == 0:
            check_database(d)
        d.start()
        number += 1
    return rounds


def check_answered(d, rounds):
    """Returns all reports that were sent; afterwards all of them are stored."""
    sent, answered, uploads = {}, set(), []
    for traffic in rounds:
        sent.update(traffic.sent)
        answered |= traffic.answered
        uploads += traffic.uploads
        assert set(traffic.refused) <= {503}, traffic.refused
    stored = d.get('/v1/stats')['reports']
    assert len(answered) <= stored <= len(sent), (len(answered), stored, len(sent))
    for id in random.sample(sorted(answered), min(200, len(answered))):
        assert d.get('/v1/reports/' + id)['id'] == id
    accepted = duplicates = 0
    for at in range(0, len(sent), 500):
        answer = d.post_reports(body(list(sent.values())[at:at + 500]), status=202).json
        accepted += answer['accepted']
        duplicates += answer['duplicates']
    assert (accepted, duplicates) == (len(sent) - stored, stored), (accepted, duplicates, stored)
    deadline = time.monotonic() + 30
    while d.get('/v1/stats')['uploads_waiting'] > 0:
        assert time.monotonic() < deadline, 'uploads wait for ever'
        time.sleep(0.05)
    for id in uploads:
        state = d.get('/v1/symbols/uploads/%d' % id)
        assert state['state'] == 'indexed', state
    print('  %d rounds: %d reports sent, %d answered, %d stored; %d uploads' % (
        len(rounds), len(sent), len(answered), stored, len(uploads)))
    return sent


def main():
    random.seed(SEED)
    print('seed %d' % SEED)
    with Daemon() as d:
        rounds = crash_again_and_again(d)
        sent = check_answered(d, rounds)
        stackless = sum(not has_stack(one) for one in sent.values())
        check_sums(d, stackless)
        d.upload(DEMO, status=200)
        check_sums(d, stackless)
        made = clusters(d)
        assert any(c[1] for c in made), 'no cluster has a name'
        again = d.post_reports(body(list(sent.values())[:2000]), status=202).json
        assert again['accepted'] == 0, again
        d.settle()
        assert clusters(d) == made, 'a retry changed clusters'
        assert d.stop() == 0
        check_database(d)
        assert left_behind(d) == [], left_behind(d)
        assert 'level=error' not in d.log.read_text()
    with Daemon() as d: # the dSYM first, no crash, another order
        d.upload(DEMO, status=200)
        reports = list(sent.values())
        random.shuffle(reports)
        for at in range(0, len(reports), 500):
            d.post_reports(body(reports[at:at + 500]), status=202)
        d.settle(60)
        other = clusters(d)
        assert other == made, sorted(set(other) ^ set(made))[:6]


main()
