#!/usr/bin/env python3
"""Real reports with expected frames: before and after their dSYMs, with load addresses and with
slides alone (shared-cache images with made-up vmaddrs). Every expected frame has to come out of
GET /v1/reports/{id}, and the clusters have to be the same in every order."""
import json, os, sys
from daemon import DATA, Daemon, frame_lines, skip

VMADDRS = 0x180000000  # where the made-up shared cache begins


def load(name):
    lines = (DATA / 'reports/native' / ('crashprobe-%s-arm64.ndjson' % name)).read_text().splitlines()
    reports = [json.loads(line) for line in lines if line.strip()]
    expected = {}
    for line in (DATA / 'reports/native' / ('crashprobe-%s-arm64.expected.tsv' % name)).read_text().splitlines():
        if line.startswith('#') or not line.strip():
            continue
        report, frame, uuid, offset, frames = line.split('\t')
        expected.setdefault(report, []).append((int(frame), uuid, int(offset, 16), json.loads(frames)))
    return reports, expected


def dsyms(name):
    folder = DATA / 'symbols' / ('crashprobe-' + name)
    return sorted(p for p in folder.rglob('DWARF/*') if p.is_file())


def number(value):
    return int(value, 16) if isinstance(value, str) else value


def slides_alone(reports, teach):
    """The same reports with `slide` alone. A made-up vmaddr for each image of the shared cache,
    known to the daemon from one report that gives both fields (`teach` of them do)."""
    vmaddrs, cache_slide = {}, 0x4c8000
    out = []
    for at, report in enumerate(reports):
        report = json.loads(json.dumps(report))
        moved = {}
        for image in report['images']:
            load_address = number(image['load_address'])
            path = image.get('path') or ''
            if '.app/' in path:
                vmaddr = 0 if '/Frameworks/' in path else 0x100000000
                image['slide'] = hex((load_address - vmaddr) & (2**64 - 1))
            else:
                uuid = image['uuid']
                if uuid not in vmaddrs:
                    vmaddrs[uuid] = VMADDRS + 0x4000000 * len(vmaddrs)
                moved[load_address] = (image.get('size') or 0x4000000, vmaddrs[uuid] + cache_slide)
                image['slide'] = hex(cache_slide)
                if at < teach:
                    image['load_address'] = hex(vmaddrs[uuid] + cache_slide)
            if at >= teach or '.app/' in path:
                del image['load_address']
        loads = sorted(moved)

        def move(address):
            below = [l for l in loads if l <= address]
            if below and address - below[-1] < moved[below[-1]][0]:
                return address - below[-1] + moved[below[-1]][1]
            return address

        for key in 'stack',:
            report[key] = [hex(move(number(a))) if not isinstance(a, dict) else
                           dict(a, address=hex(move(number(a['address'])))) for a in report[key]]
        out.append(report)
    return out


def body(reports):
    return '\n'.join(json.dumps(r) for r in reports)


def check(daemon, expected, label):
    for report_id, frames in expected.items():
        stack = daemon.get('/v1/reports/' + report_id)['stack']
        for index, uuid, offset, want in frames:
            raw = stack[index]
            assert raw['uuid'].replace('-', '') == uuid, (label, report_id, index, raw)
            assert int(raw['offset'], 16) == offset, (label, report_id, index, raw)
            assert raw['status'] == 'resolved', (label, report_id, index, raw)
            got = frame_lines(raw)
            want = [(w[0], os.path.basename(w[1] or ''), w[2] or None) for w in want]
            assert got == want, (label, report_id, index, got, want)


def clusters(daemon, reports):
    """{title: set of report ids}: ids of clusters differ between daemons, their members must not."""
    groups = {}
    for report in reports:
        answer = daemon.get('/v1/reports/' + report['id'])
        groups.setdefault(answer['cluster_id'], set()).add(report['id'])
    titles = {c['id']: c['title'] for c in daemon.all_items('/v1/clusters?include_hidden=1')}
    titles[None] = '(no stack)'
    return {(titles[k], tuple(sorted(v))) for k, v in groups.items()}


def run(name, reports, expected, order):
    with Daemon() as daemon:
        def send():
            answer = daemon.post_reports(body(reports), 'application/x-ndjson', status=202).json
            assert answer['accepted'] == len(reports), answer

        def symbols():
            for path in dsyms(name):
                answer = daemon.upload(path, status=200).json
                assert answer['state'] == 'indexed', answer
        steps = [send, symbols] if order == 'before' else [symbols, send]
        steps[0]()
        daemon.settle()
        steps[1]()
        daemon.settle()
        check(daemon, expected, '%s, reports %s dSYMs' % (name, order))
        return clusters(daemon, reports)


if not (DATA / 'reports/native').is_dir():
    skip('no data at ' + str(DATA))
for name in 'release', 'debug':
    reports, expected = load(name)
    frames = sum(len(f) for f in expected.values())
    first = run(name, reports, expected, 'before')
    assert first == run(name, reports, expected, 'after'), name + ': clusters depend on the order'
    for teach in 0, 1:
        slid = slides_alone(reports, teach)
        assert first == run(name, slid, expected, 'before'), name + ': clusters differ with slides alone'
        assert first == run(name, slid, expected, 'after'), name + ': clusters differ with slides alone'
    print('ok: %s: %d reports, %d frames, %d clusters' % (name, len(reports), frames, len(first)))
