#!/usr/bin/env python3
"""Where an image lies in its file, as reports say it: counts for the app that said it, for nobody else;
the symbol file's word counts for all, also for what was said before. Over a restart, too. So does what
reports say of the libraries in an OS's shared cache."""
import json

from daemon import Daemon
from traffic import DEMO, SHOP

SLIDE, VMADDR, OFFSET = 0x4f4000, 0x100000000, 0x4084
A, B = 'com.example.a', 'com.example.b'


def token(d, app):
    answer = d.request('POST', '/v1/admin/tokens', json.dumps(
        {'name': app, 'scopes': ['ingest'], 'bundle_id': app}).encode(),
        {'Content-Type': 'application/json'})
    return answer.json['token']


def send(d, who, app, id, **place):
    body = {'app': {'bundle_id': app, 'version': '1'}, 'id': id, 'kind': 'stall', 'duration_ms': 900,
            'images': [dict(place, uuid=SHOP, name='Shop', size=1 << 20, slide=hex(SLIDE),
                            path='/var/containers/Bundle/Application/X/Shop.app/Shop')],
            'stack': [hex(SLIDE + VMADDR + OFFSET)]}
    answer = d.request('POST', '/v1/reports', json.dumps(body).encode(),
                       {'Content-Type': 'application/json'}, who)
    assert answer.status == 202 and answer.json['accepted'] == 1, answer


def frame(d, app, id):
    d.settle()
    return d.get('/v1/reports/%s?bundle_id=%s' % (id, app))['stack'][0]


OTHER_LIBRARIES = ['11111111-2222-3333-4444-55555555555%d' % i for i in range(2)]


def send_cache(d, who, app, libraries):
    """One frame in the shared cache of OS build 21A1, of which these libraries are said to be."""
    body = {'app': {'bundle_id': app, 'version': '1'}, 'id': 'cache', 'kind': 'stall', 'duration_ms': 900,
            'device': {'os_version': '17', 'os_build': '21A1', 'arch': 'arm64'},
            'images': [{'uuid': u, 'name': 'lib%d' % i, 'path': '/usr/lib/lib%d' % i,
                        'slide': hex(SLIDE)} for i, u in enumerate(libraries)],
            'stack': [hex(SLIDE + VMADDR + OFFSET)]}
    answer = d.request('POST', '/v1/reports', json.dumps(body).encode(),
                       {'Content-Type': 'application/json'}, who)
    assert answer.status == 202 and answer.json['accepted'] == 1, answer


def members_of_the_cache():
    with Daemon() as d:
        a, b = token(d, A), token(d, B)
        send_cache(d, a, A, OTHER_LIBRARIES)
        send_cache(d, b, B, [SHOP, OTHER_LIBRARIES[0]])
        d.upload(DEMO, 'wait=1', 200)
        for _ in range(2):
            assert frame(d, B, 'cache')['frames'][0]['function'], frame(d, B, 'cache')
            got = frame(d, A, 'cache')
            assert not got['frames'] and got['status'] == 'no_symbols', got
            d.restart()


def main():
    members_of_the_cache()
    with Daemon() as d:
        a, b = token(d, A), token(d, B)
        # B says that A's image lies 0x1000 further up than it does; its own frames follow that.
        send(d, b, B, 'said', load_address=hex(SLIDE + VMADDR + 0x1000))
        send(d, b, B, 'slide')
        send(d, a, A, 'slide')
        assert frame(d, B, 'slide')['offset'] == hex(OFFSET - 0x1000), frame(d, B, 'slide')
        assert frame(d, A, 'slide')['offset'] == hex(OFFSET), frame(d, A, 'slide')
        d.restart()
        send(d, a, A, 'restarted')
        send(d, b, B, 'restarted')
        assert frame(d, A, 'restarted')['offset'] == hex(OFFSET)
        assert frame(d, B, 'restarted')['offset'] == hex(OFFSET - 0x1000)
        # The symbol file knows; what reports say afterwards changes nothing.
        d.upload(DEMO, 'wait=1', 200)
        send(d, b, B, 'said-again', load_address=hex(SLIDE + VMADDR + 0x1000))
        for app, who in ((A, a), (B, b)):
            send(d, who, app, 'known')
            got = frame(d, app, 'known')
            assert got['offset'] == hex(OFFSET) and got['frames'][0]['function'], got
        d.restart()
        send(d, b, B, 'at-last')
        assert frame(d, B, 'at-last')['offset'] == hex(OFFSET)
    print('ok: places of images')


main()
