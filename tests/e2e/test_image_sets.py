#!/usr/bin/env python3
"""Two devices under one name of images: neither gets the other's frames, and none of their reports is
lost. A name that keeps its meaning (dyld adds an image; an old batch comes late) goes on to work
alone. All of it over a kill -9, too."""
import json, signal

from daemon import Daemon
from traffic import APP, DEMO, GONE, SHOP

VMADDR, OFFSET = 0x100000000, 0x4084
SLIDES = {'a': 0x4f4000, 'b': 0x4000}
ADS = {'uuid': GONE, 'name': 'Ads', 'load_address': '0x200000000', 'size': '0x100000'}


def shop(device):
    return {'uuid': SHOP, 'name': 'Shop', 'size': '0x100000', 'slide': hex(SLIDES[device]),
            'load_address': hex(VMADDR + SLIDES[device])}


def batch(device, name, id, images=None, **report):
    body = {'app': {'bundle_id': APP, 'version': '1'}, 'image_set': name,
            'reports': [dict({'id': id, 'kind': 'stall', 'duration_ms': 900,
                              'stack': [hex(VMADDR + SLIDES[device] + OFFSET)]}, **report)]}
    return dict(body, images=images) if images else body


def send(d, *bodies):
    return d.request('POST', '/v1/reports', json.dumps(bodies).encode(),
                     {'Content-Type': 'application/json'})


def taken(d, *args, **report):
    answer = send(d, batch(*args, **report))
    assert answer.status == 202 and answer.json['accepted'] == 1, answer
    assert 'need_image_sets' not in answer.json, answer


def asked(d, device, name, id):
    """The name alone does not do; the same report with its images does."""
    answer = send(d, batch(device, name, id))
    assert answer.status == 422 and answer.json['need_image_sets'] == [name], answer
    assert answer.json['rejected'][0]['reason'] == 'unknown_image_set', answer
    taken(d, device, name, id, [shop(device)])


def frame(d, id):
    d.settle()
    return d.get('/v1/reports/%s?bundle_id=%s' % (id, APP))['stack'][0]


def is_right(d, *ids):
    for id in ids:
        got = frame(d, id)
        assert got['offset'] == hex(OFFSET) and got['frames'][0]['function'], (id, got)


def two_devices(d):
    taken(d, 'a', 'shop-7210', 'a1', [shop('a')])
    taken(d, 'a', 'shop-7210', 'a2')
    taken(d, 'b', 'shop-7210', 'b1', [shop('b')])
    asked(d, 'a', 'shop-7210', 'a3')
    asked(d, 'b', 'shop-7210', 'b2')
    d.restart(signal.SIGKILL)
    asked(d, 'a', 'shop-7210', 'a4')
    asked(d, 'b', 'shop-7210', 'b3')
    is_right(d, 'a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3')


def two_devices_in_one_body(d):
    """As a relay sends them."""
    answer = send(d, batch('a', 'relay', 'ra1', [shop('a')]), batch('b', 'relay', 'rb1', [shop('b')]),
                  batch('a', 'relay', 'ra2'), batch('b', 'relay', 'rb2'))
    assert answer.json['accepted'] == 2 and answer.json['need_image_sets'] == ['relay'], answer
    asked(d, 'a', 'relay', 'ra2')
    asked(d, 'b', 'relay', 'rb2')
    # B's images are stored already when a body brings A's and then a report of B.
    taken(d, 'b', 'relay2', 'rb3', [shop('b')])
    answer = send(d, batch('a', 'relay2', 'ra4', [shop('a')]), batch('b', 'relay2', 'rb4'))
    assert answer.json['accepted'] == 1 and answer.json['need_image_sets'] == ['relay2'], answer
    asked(d, 'b', 'relay2', 'rb4')
    is_right(d, 'ra1', 'ra2', 'rb1', 'rb2', 'rb3', 'ra4', 'rb4')


def one_process(d):
    ads = {'stack': ['0x200000040', hex(VMADDR + SLIDES['a'] + OFFSET)]}
    taken(d, 'a', 'launch', 'l1', [shop('a')])
    taken(d, 'a', 'launch', 'l2', [ADS, shop('a')])
    taken(d, 'a', 'launch', 'l3', [shop('a')])  # an old batch, sent again
    taken(d, 'a', 'launch', 'l4', **ads)
    d.restart(signal.SIGKILL)
    taken(d, 'a', 'launch', 'l5', **ads)
    is_right(d, 'l1', 'l2', 'l3')
    for id in 'l4', 'l5':
        assert GONE in json.dumps(frame(d, id)).upper(), frame(d, id)
    # Another process of the same build and slide that lacks an image of the first.
    taken(d, 'a', 'launch', 'l6', [shop('a'), dict(ADS, load_address='0x300000000')])
    asked(d, 'a', 'launch', 'l7')


def main():
    with Daemon() as d:
        d.upload(DEMO, 'wait=1', 200)
        two_devices(d)
        two_devices_in_one_body(d)
        one_process(d)
    print('ok: names of images')


main()
