"""Symbols of the system: one archive with thousands of libraries, before and after the reports.

Covers: server/jobs/index_install.c server/web/upload.sh
"""
import io, json, os, pathlib, subprocess, tarfile, tempfile, time, zipfile
from daemon import Daemon, PROGRAM
from systemlab import CACHE_BASE, Library, STEP, TEXT_SIZE

ROOT = '20G75 arm64e'
SLIDE = 0x5a4000


def zip_of(libraries, extra=()):
    body = io.BytesIO()
    with zipfile.ZipFile(body, 'w', zipfile.ZIP_DEFLATED) as z:
        for library in libraries:
            z.writestr(library.member(ROOT), library.bytes())
        for name, data in extra:
            z.writestr(name, data)
    return body.getvalue()


def tar_of(libraries):
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode='w:gz') as t:
        for library in libraries:
            data = library.bytes()
            member = tarfile.TarInfo(library.member(ROOT))
            member.size = len(data)
            t.addfile(member, io.BytesIO(data))
    return body.getvalue()


def address(library, function, offset):
    return SLIDE + library.vmaddr + 0x1000 + function * STEP + offset


def report(identity, libraries, slide_only):
    """A stack through two functions of each library; slides alone, or load addresses."""
    images, stack = [], []
    for library in libraries:
        where = {'slide': hex(SLIDE)} if slide_only else {
            'slide': hex(SLIDE), 'load_address': hex(SLIDE + library.vmaddr)}
        images.append({'uuid': library.id, 'name': library.name, 'arch': 'arm64e',
                       'path': library.path, **where})
        stack += [hex(address(library, 1, 0x10)), hex(address(library, 2, 0x20))]
    return {'app': {'bundle_id': 'com.example.shop', 'version': '1'},
            'device': {'model': 'iPhone14,7', 'os_version': '16.6', 'os_build': '20G75',
                       'arch': 'arm64e'},
            'images': images, 'reports': [{'id': identity, 'duration_ms': 900, 'stack': stack}]}


def frames_of(d, identity):
    d.settle()
    for cluster in d.all_items('/v1/clusters?bundle_id=com.example.shop&include_hidden=1'):
        for item in d.all_items('/v1/clusters/%d/reports' % cluster['id']):
            if item['id'] == identity:
                return d.get('/v1/reports/%s?bundle_id=com.example.shop' % identity)['stack']
    raise AssertionError('no report ' + identity)


def names(stack):
    return [f['frames'][0]['function'] if f['frames'] else None for f in stack]


def expected(libraries):
    out = []
    for library in libraries:
        named = bool(library.functions)
        out += [library.functions[i][1:] if named else None for i in (1, 2)]
    return out


def thousands(d):
    libraries = [Library(i, functions=12, named=i % 10 != 3) for i in range(3000)]
    chosen = [libraries[i] for i in (0, 1, 1500, 2998)]
    d.post_reports(report('before-slide', chosen, True), status=202)
    d.post_reports(report('before-load', chosen, False), status=202)
    assert names(frames_of(d, 'before-load')) == [None] * 8
    started = time.monotonic()
    body = zip_of(libraries, [(ROOT + '/Info.plist', b'<plist/>'), ('__MACOSX/._x', b'x'),
                              (ROOT + '/Symbols/usr/share/words', b'a\nb\n')])
    answer = d.upload(body, 'kind=system&os_build=20G75&wait=1', 200).json
    took = time.monotonic() - started
    print('3,000 libraries indexed in %.1f s' % took)
    assert took < 120, took
    assert answer['state'] == 'indexed', answer['reason']
    assert '2 files are no symbol files' in answer['reason'], answer['reason']
    assert answer['slice_count'] == 3000 and answer['indexed_count'] == 3000, answer['slice_count']
    # The answer is of a bounded size; the rest comes page by page.
    assert len(answer['slices']) == 1000 and answer['next_cursor'], len(answer['slices'])
    path = '/v1/symbols/uploads/%d?limit=900' % answer['upload_id']
    slices, cursor = [], ''
    while cursor is not None:
        page = d.get(path + ('&cursor=' + cursor if cursor else ''))
        slices += page['slices']
        cursor = page['next_cursor']
    assert [s['uuid'] for s in slices] == [x.id for x in libraries]
    assert all(s['state'] == 'indexed' for s in slices)
    assert slices[3]['functions'] == 0 and 'no names' in slices[3]['reason'], slices[3]
    assert slices[4]['functions'] == 12 and slices[4]['arch'] == 'arm64e', slices[4]

    # Reports of before and after; slides alone, and with load addresses.
    d.post_reports(report('after-slide', chosen, True), status=202)
    d.post_reports(report('after-load', chosen, False), status=202)
    for identity in ('before-load', 'before-slide', 'after-load', 'after-slide'):
        stack = frames_of(d, identity)
        assert names(stack) == expected(chosen), (identity, names(stack))
        for i, f in enumerate(stack):
            library = chosen[i // 2]
            assert f['status'] == 'resolved' and f['uuid'] == library.id, f
            assert not f['frames'][0]['in_app'], f
            assert f['function_offset'] == ('0x20' if i % 2 else '0x10'), f
    unnamed = [libraries[3]]
    d.post_reports(report('unnamed', unnamed, True), status=202)
    stack = frames_of(d, 'unnamed')
    assert [f['status'] for f in stack] == ['out_of_range'] * 2, stack
    assert stack[0]['uuid'] == libraries[3].id and stack[0]['offset'] == '0x1110', stack[0]
    return libraries


def most_are_known(d, libraries):
    """The next device's folder: most libraries are the same."""
    fresh = [Library(i, functions=3) for i in range(4000, 4020)]
    body = tar_of(libraries[:400] + fresh)
    started = time.monotonic()
    answer = d.upload(body, 'kind=system&os_build=20G75&wait=1', 200).json
    print('400 known ones and 20 others in %.1f s' % (time.monotonic() - started))
    assert '400 of 420 symbol files were known' in answer['reason'], answer['reason']
    assert answer['slice_count'] == 420 and answer['indexed_count'] == 420
    assert answer['slices'][0]['functions'] == 12, answer['slices'][0]
    assert answer['slices'][0]['reason'].startswith('known'), answer['slices'][0]
    assert answer['slices'][400]['functions'] == 3 and not answer['slices'][400]['reason']
    found = d.get('/v1/symbols/' + fresh[7].id)['objects']
    assert found[0]['name'] == 'Kit4007' and found[0]['kind'] == 'system', found


def by_upload_sh(d):
    """A folder as Xcode makes it, its OS build in its name."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        script = folder / 'upload.sh'
        script.write_bytes(d.request('GET', '/upload.sh', token=False).body)
        root = folder / "16.7 (20H19) arm64e"
        libraries = [Library(i) for i in range(5000, 5030)]
        for library in libraries:
            path = root / ('Symbols' + library.path)
            path.parent.mkdir(parents=True)
            path.write_bytes(library.bytes())
        env = {'PATH': os.environ['PATH'], 'STALLSYM_TOKEN': d.token,
               'STALLSYM_URL': 'http://127.0.0.1:%d' % d.port}
        run = subprocess.run(['sh', str(script), '--system', '--require-all', str(root)], env=env,
                             capture_output=True, text=True)
        assert run.returncode == 0, run
        found = d.get('/v1/symbols/' + libraries[29].id)['objects'][0]
        assert found['kind'] == 'system' and found['os_build'] == '20H19', found
        nameless = folder / 'Symbols'
        (root / 'Symbols').rename(nameless)
        run = subprocess.run(['sh', str(script), '--system', str(nameless)], env=env,
                             capture_output=True, text=True)
        assert run.returncode == 2 and '--os-build' in run.stderr, run
        run = subprocess.run(['sh', str(script), '--system', '--os-build', '20H20', '--wait',
                              str(nameless)], env=env, capture_output=True, text=True)
        assert run.returncode == 0, run


def main():
    with Daemon() as d:
        libraries = thousands(d)
        most_are_known(d, libraries)
        by_upload_sh(d)


main()
