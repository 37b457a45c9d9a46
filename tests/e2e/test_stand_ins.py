"""A symbol file that never comes: what was uploaded in its place is offered, accepted, shown as approximate,
and given up when the true file arrives. Product 12, B75.

Covers: server/http/api_stand_ins.c server/jobs/stand_ins.c storage/read_stand_ins.c
"""
import io, json, os, pathlib, signal, sys, time, uuid, zipfile

sys.path.insert(0, os.path.dirname(__file__))
from daemon import Daemon

DEMO = pathlib.Path(__file__).parent.parent / 'demo' / 'Shop.dSYM.zip'
APP = 'com.example.shop'
NEAR = '11111111-2222-3333-4444-555555555555'
FAR = 'AAAAAAAA-2222-3333-4444-555555555555'


def dwarf_object():
    with zipfile.ZipFile(DEMO) as archive:
        name = next(n for n in archive.namelist() if '/DWARF/' in n and not n.endswith('/'))
        return archive.read(name)


def dsym(data, name='Shop'):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w') as archive:
        archive.writestr(name + '.dSYM/Contents/Resources/DWARF/' + name, data)
    return out.getvalue()


def of_another_build(text):
    """The demo's object under another UUID: what the archive of another build looks like."""
    data = dwarf_object()
    own = uuid.UUID(OWN).bytes
    assert data.count(own) == 1
    return dsym(data.replace(own, uuid.UUID(text).bytes))


def report(id, hours_ago=0, build='7210'):
    return {'id': id, 'bundle_id': APP, 'app_version': '7.2.1', 'build': build, 'duration_ms': 1240,
            'timestamp': int(time.time() * 1000) - hours_ago * 3600000,
            'images': [{'uuid': OWN, 'name': 'Shop', 'arch': 'arm64', 'load_address': '0x100000000'}],
            'stack': '0x100004084'}


def upload(d, data, build):
    d.upload(data, 'wait=1&bundle_id=%s&version=7.2.1&build=%s' % (APP, build), 200)


def put(d, image, other, token=True):
    body = other if isinstance(other, bytes) else json.dumps({'uuid': other}).encode()
    return d.request('PUT', '/v1/symbols/%s/stand-in' % image, body, {'Content-Type': 'application/json'}, token)


def missing(d):
    rows = [m for m in d.get('/v1/symbols/missing?bundle_id=' + APP)['items'] if m['uuid'] == OWN]
    return rows[0] if rows else None


def frame(d, id='one'):
    return d.get('/v1/reports/' + id)['stack'][0]


def clusters(d):
    return d.all_items('/v1/clusters?bundle_id=%s&include_hidden=1' % APP)


def offered_accepted_and_undone():
    with Daemon() as d:
        d.post_reports(report('one'), status=202)
        upload(d, of_another_build(FAR), '7000')
        upload(d, of_another_build(NEAR), '7209')
        d.settle()
        row = missing(d)
        assert [(c['uuid'], c['build'], c['same_build']) for c in row['candidates']] == [
            (NEAR, '7209', False), (FAR, '7000', False)], row
        assert row['stand_in'] is None and frame(d)['status'] == 'no_symbols'
        assert d.request('GET', '/v1/symbols/' + OWN).status == 404
        assert put(d, OWN, NEAR).status == 204
        d.settle()
        for _ in range(2):
            shown = frame(d)
            assert shown['approximate'] and shown['status'] == 'resolved' and shown['frames'], shown
            (cluster,) = clusters(d)
            assert cluster['approximate'] and not cluster['provisional'] and cluster['count'] == 1, cluster
            known = d.get('/v1/symbols/' + OWN)
            assert known['objects'] == [] and known['stand_in']['uuid'] == NEAR and known['stand_in']['by_hand']
            assert missing(d)['stand_in'] == NEAR
            d.restart(signal.SIGKILL)
        names = [f['function'] for f in frame(d)['frames']]
        # Taken back: as before. Twice: not there.
        assert d.request('DELETE', '/v1/symbols/%s/stand-in' % OWN).status == 204
        d.settle()
        assert frame(d)['status'] == 'no_symbols' and not frame(d)['approximate']
        assert d.request('DELETE', '/v1/symbols/%s/stand-in' % OWN).status == 404
        # Accepted anew, until the true file arrives.
        assert put(d, OWN, FAR).status == 204
        d.post_reports(report('two'), status=202)
        d.settle()
        assert frame(d, 'two')['approximate']
        upload(d, DEMO.read_bytes(), '7210')
        d.settle()
        for id in ('one', 'two'):
            assert not frame(d, id)['approximate'] and [f['function'] for f in frame(d, id)['frames']] == names
        (cluster,) = clusters(d)
        assert not cluster['approximate'] and cluster['count'] == 2, cluster
        known = d.get('/v1/symbols/' + OWN)
        assert known['stand_in'] is None and len(known['objects']) == 1
        assert missing(d) is None
        assert put(d, OWN, NEAR).status == 409


def decided_before_the_first_report():
    with Daemon() as d:
        upload(d, of_another_build(NEAR), '7209')
        d.settle()
        assert put(d, OWN, NEAR).status == 204
        assert d.get('/v1/symbols/' + OWN)['stand_in']['uuid'] == NEAR and missing(d) is None
        d.post_reports(report('one'), status=202)
        d.settle()
        assert frame(d)['approximate'] and frame(d)['frames'] and missing(d)['stand_in'] == NEAR


def what_is_refused():
    with Daemon() as d:
        d.post_reports(report('one'), status=202)
        upload(d, of_another_build(NEAR), '7209')
        d.upload(dsym(dwarf_object().replace(uuid.UUID(OWN).bytes, uuid.UUID(FAR).bytes), 'Other'),
                 'wait=1&bundle_id=%s&version=7.2.1&build=7209' % APP, 200)
        d.settle()
        assert [c['uuid'] for c in missing(d)['candidates']] == [NEAR]
        assert put(d, OWN, FAR).status == 409 # an image of another name
        assert put(d, OWN, OWN).status == 409
        assert put(d, OWN, NEAR.replace('1', '7')).status == 404
        assert put(d, 'nonsense', NEAR).status == 400
        assert put(d, OWN, b'{"uuid":"x"}').status == 422
        assert put(d, OWN, b'{"uuid":"%s","more":1}' % NEAR.encode()).status == 422
        assert put(d, OWN, b'[').status == 400
        token = d.request('POST', '/v1/admin/tokens', json.dumps({'name': 'ci', 'scopes': ['symbols']}),
                          {'Content-Type': 'application/json'}).json['token']
        assert put(d, OWN, NEAR, token).status == 403
        assert put(d, OWN, NEAR).status == 204


def taken_by_itself():
    env = {'STALLSYM_SYMBOLS_APPROXIMATE': 'yes', 'STALLSYM_SYMBOLS_GIVE_UP_HOURS': '1',
           'STALLSYM_RETENTION_INTERVAL_MS': '50'}
    with Daemon(env=env) as d:
        d.post_reports(report('one', 3), status=202)
        upload(d, of_another_build(FAR), '7209')
        d.settle()
        d.restart() # housekeeping looks at once
        time.sleep(0.5)
        assert missing(d)['stand_in'] is None # another build is not taken
        upload(d, of_another_build(NEAR), '7210')
        d.restart()
        deadline = time.monotonic() + 20
        while not missing(d)['stand_in']:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        d.settle()
        assert missing(d)['stand_in'] == NEAR and not d.get('/v1/symbols/' + OWN)['stand_in']['by_hand']
        assert frame(d)['approximate'] and clusters(d)[0]['approximate']


def main():
    global OWN
    with Daemon() as d:
        OWN = d.upload(DEMO, 'wait=1', 200).json['slices'][0]['uuid']
    for test in (offered_accepted_and_undone, decided_before_the_first_report, what_is_refused, taken_by_itself):
        begin = time.monotonic()
        test()
        print('%s: %.1f s' % (test.__name__, time.monotonic() - begin))


if __name__ == '__main__':
    main()
