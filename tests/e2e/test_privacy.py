"""What must not be stored is not in the database, whatever field it came in: the files are searched for it.

Covers: server/ingest/privacy.c server/ingest/format_native_stack.c"""
import json, os, sys

sys.path.insert(0, os.path.dirname(__file__))
from daemon import Daemon

SECRETS = ['jane.doe@mail.example', '192.0.2.77', '2001:db8::ff00:42:8329', '6B1F6B5E-0C1D-4E2F-8A3B-1234567890AB',
           '+49 30 1234-5678', '998877665544', 'Bearer s3cr3tt0ken99', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln']
ADDRESS = 'https://jane:pa55w0rd@shop.example/cart?session=4b1dqu3ry#fr4gm3nt'
IMAGE = {'uuid': '0285884D-3DE9-3051-B23A-63B48BF99F35', 'load_address': '0x100000000',
         'path': '/Users/janedoe-home/Library/Shop.app/Shop'}


def reports():
    for i, secret in enumerate(SECRETS + [ADDRESS]):
        text = 'x ' + secret
        yield {'id': 'r%d' % i, 'bundle_id': 'com.example.shop', 'device': text, 'page': text,
               'path': ['Home', text], 'threshold_type': text[:64], 'tags': {'a': text, 'plain': 'kept-value', 'n': 7},
               'images': [IMAGE], 'duration_ms': 900, 'unknown_field': text, 'user': {'mail': text},
               'stack': ['0x100004084'],
               'samples': [{'offset_ms': 0, 'thread_state': text[:64], 'stack': ['0x100004084']},
                           {'offset_ms': 50, 'stack': ['0x100004088']}],
               'threads': [{'tid': 1, 'name': text, 'state': text[:64], 'queue': text, 'stack': ['0x100004084'],
                            'waits_for': {'kind': text[:64], 'queue': text, 'owner_tid': 1}}]}
    for i, secret in enumerate(['jane.doe@mail.example', 'Bearer s3cr3tt0ken99']):
        yield {'id': 's%d' % i, 'bundle_id': 'com.example.shop', 'duration_ms': 900,
               'images': [dict(IMAGE, uuid=IMAGE['uuid'].replace('0', '1'), name='/home/janedoe-home/' + secret)],
               'stack': [{'address': '0x100004084', 'symbol': 'open ' + secret}]}


def main():
    with Daemon() as d:
        body = [dict(r) for r in reports()]
        answer = d.post_reports(body, status=202).json
        assert answer['accepted'] == len(body), answer
        assert any(x['reason'] == 'looks like personal data' for x in answer['dropped'])
        d.settle()
        shown = json.dumps([d.get('/v1/reports/' + r['id']) for r in body])
        assert 'kept-value' in shown and 'https://shop.example/cart' in shown
        d.stop()
        stored = b''.join(p.read_bytes() for p in sorted((d.folder / 'data').glob('*')) if p.is_file())
        assert b'kept-value' in stored and b'https://shop.example/cart' in stored
        words = SECRETS + ['pa55w0rd', '4b1dqu3ry', 'fr4gm3nt', 's3cr3tt0ken99', 'janedoe-home', 'mail.example']
        for where, text in (('answers', shown.encode()), ('database', stored), ('log', d.log.read_bytes())):
            for word in words:
                assert word.lower().encode() not in text.lower(), (where, word)
    print('%d secrets in %d reports' % (len(words), len(body)))


if __name__ == '__main__':
    main()
