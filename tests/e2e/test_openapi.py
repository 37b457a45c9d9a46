#!/usr/bin/env python3
"""The document of the API is true: real answers have the documented shape and nothing more, examples
of answers have all that the real ones have, examples of bodies are taken; and every parameter of every
read says by its name what is wrong with it."""
import json, pathlib, re, urllib.parse

from daemon import Daemon

JSON = {'Content-Type': 'application/json'}
APP = 'com.example.shop'
DEMO = pathlib.Path(__file__).parents[1] / 'demo'
IS = {'integer': lambda v: isinstance(v, int) and not isinstance(v, bool),
      'number': lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
      'string': lambda v: isinstance(v, str), 'boolean': lambda v: isinstance(v, bool),
      'object': lambda v: isinstance(v, dict), 'array': lambda v: isinstance(v, list),
      'null': lambda v: v is None}
QUERIES = {'/v1/compare': {'bundle_id': APP, 'version': '7.2.0', 'compare_version': '7.2.1'},
           '/v1/breakdown': {'by': 'version', 'bundle_id': APP},
           '/v1/clusters/{id}/breakdown': {'by': 'version'},
           '/v1/trends': {'group': 'version', 'bundle_id': APP}}
ABOUT_OTHERS = {'/v1/symbols/{uuid}/stand-in': 409, '/v1/clusters/merge': 404} # of ids made up
wrong = []


def resolve(schema):
    while '$ref' in schema:
        target = SPEC
        for step in schema['$ref'].split('/')[1:]:
            target = target[step]
        schema = {**target, **{k: v for k, v in schema.items() if k != '$ref'}}
    return schema


def types(schema):
    kind = schema.get('type', 'object' if 'properties' in schema or 'allOf' in schema else [])
    return kind if isinstance(kind, list) else [kind]


def members(schema):
    schema, found, needed = resolve(schema), {}, set()
    for part in schema.get('allOf', []):
        more, also = members(part)
        found.update(more)
        needed |= also
    found.update(schema.get('properties', {}))
    return found, needed | set(schema.get('required', []))


def check(value, schema, at):
    """Against the schema: types, enumerations, nothing undocumented, nothing required missing."""
    schema = resolve(schema)
    choices = schema.get('oneOf') or schema.get('anyOf')
    if choices:
        fitting = [c for c in map(resolve, choices) if any(IS[t](value) for t in types(c))]
        if not fitting:
            wrong.append((at, 'none of the kinds', value))
        elif len(fitting) == 1:
            check(value, fitting[0], at)
        return
    if types(schema) and not any(IS[t](value) for t in types(schema)):
        wrong.append((at, types(schema), value))
    elif 'enum' in schema and value not in schema['enum']:
        wrong.append((at, schema['enum'], value))
    elif isinstance(value, dict):
        known, needed = members(schema)
        others = schema.get('additionalProperties')
        for key in value:
            if key in known:
                check(value[key], known[key], at + '.' + key)
            elif isinstance(others, dict):
                check(value[key], others, at + '.' + key)
            elif known:
                wrong.append((at, 'not documented', key))
        wrong.extend((at, 'missing', key) for key in needed - set(value))
    elif isinstance(value, list) and 'items' in schema:
        for item in value:
            check(item, schema['items'], at + '[]')


def lacks(example, answer, at):
    """What the example has not got of a real answer: of lists the first ones are compared."""
    if isinstance(example, dict) and isinstance(answer, dict):
        wrong.extend((at, 'the example has no', key) for key in set(answer) - set(example))
        for key in set(answer) & set(example):
            lacks(example[key], answer[key], at + '.' + key)
    elif isinstance(example, list) and isinstance(answer, list) and example and answer:
        lacks(example[0], answer[0], at + '[]')


def examples(content):
    return ([content['example']] if 'example' in content else []) + \
        [e['value'] for e in content.get('examples', {}).values()]


def of_json(part):
    return [(media, content) for media, content in resolve(part).get('content', {}).items()
            if media in ('application/json', 'application/problem+json')]


def bad_values(parameter):
    schema = resolve(parameter.get('schema', {}))
    bad = {'twice': None, 'nul': '%00', 'no utf-8': '%ff', 'broken': '%zz'}
    if schema.get('type') == 'integer':
        bad.update({'word': 'abc', 'part': '1.5', 'large': '1e30', 'long': '9' * 3000})
    if schema.get('type') == 'boolean':
        bad.update({'word': 'maybe', 'two': '2'})
    if 'enum' in schema:
        bad.update({'word': 'nonsense', 'case': schema['enum'][0].upper()})
    if parameter['name'] in ('since', 'until'):
        bad.update({'word': 'abc', 'day': '2026-13-45', 'no zone': '2026-01-01T00:00:00'})
    return bad


def ask_wrong(path, target, parameter):
    name = parameter['name']
    others = {k: v for k, v in QUERIES.get(path, {}).items() if k != name}
    for kind, value in bad_values(parameter).items():
        query = urllib.parse.urlencode(others) + '&%s=%s' % (name, value)
        if kind == 'twice':
            query = urllib.parse.urlencode(others) + '&%s=1&%s=1' % (name, name)
        answer = d.request('GET', target + '?' + query)
        named = kind in ('nul', 'no utf-8', 'broken') or name in answer.json.get('detail', '')
        if answer.status != 400 or not named or \
                answer.headers['Content-Type'] != 'application/problem+json':
            wrong.append((target + '?' + query[:80], kind, answer))


with Daemon() as d:
    SPEC = d.get('/openapi.json')
    queued = d.upload(DEMO / 'Shop.dSYM.zip', 'wait=0', 202).json
    indexed = d.upload(DEMO / 'Shop.dSYM.zip', 'wait=1', 200).json
    for reports in ('before.ndjson', 'after.ndjson'):
        d.post_reports((DEMO / reports).read_bytes(), 'application/x-ndjson', 202)
    d.settle()
    for method, path, body in (
            ('PUT', '/v1/alerts', {'targets': [{'name': 'a', 'url': 'https://h.example.com/x'}],
                                   'owners': {'x': ['a']}, 'rules': [{'to': ['a'], 'name': 'n'}]}),
            ('POST', '/v1/alerts/test', {}), ('POST', '/v1/admin/tokens', {'scopes': ['read']}),
            ('PUT', '/v1/apps/%s/config' % APP, {'rules': [{'name': 'x', 'if': {'percentage': 3}}]}),
            ('PATCH', '/v1/clusters/1', {'state': 'resolved', 'resolved_in': '99'}),
            ('POST', '/v1/usage', {'app': {'bundle_id': APP, 'version': '7.2.1'}, 'items': [
                {'page': 'Home', 'foreground_ms': 5400000}]})):
        assert d.request(method, path, json.dumps(body).encode(), JSON).status < 300, path
    given = {'id': '1', 'bundle_id': APP, 'uuid': indexed['slices'][0]['uuid'], 'revision': '1',
             'report': d.get('/v1/clusters/1/reports')['items'][0]['id']}

    for path, operations in SPEC['paths'].items():
        named = path.replace('/v1/reports/{id}', '/v1/reports/{report}')
        target = re.sub(r'\{(\w+)\}', lambda m: given.get(m.group(1), '1'), named)
        for method, operation in operations.items():
            if 'responses' not in operation:
                continue
            for status, response in operation['responses'].items():
                for media, content in of_json(response):
                    for example in examples(content):
                        check(example, content['schema'], 'example of %s %s %s' % (method, path, status))
            for media, content in of_json(operation.get('requestBody', {})):
                for example in examples(content):
                    answer = d.request(method.upper(), target, json.dumps(example).encode(), JSON)
                    if answer.status >= 300 and answer.status != ABOUT_OTHERS.get(path):
                        wrong.append((method, path, answer))
        if 'get' not in operations:
            continue
        for parameter in map(resolve, operations['get'].get('parameters', [])):
            if parameter['in'] == 'query':
                ask_wrong(path, target, parameter)
        answer = d.request('GET', target + '?' + urllib.parse.urlencode(QUERIES.get(path, {})))
        response = operations['get']['responses'].get(str(answer.status))
        if not response:
            wrong.append((path, 'not a documented status', answer.status))
        for media, content in of_json(response or {}) if answer.status == 200 else ():
            if path != '/openapi.json':
                check(answer.json, content['schema'], path)
            for example in examples(content):
                lacks(example, answer.json, 'GET ' + path)
    said = SPEC['paths']['/v1/symbols']['post']['responses']
    lacks(examples(said['200']['content']['application/json'])[0], indexed, 'POST /v1/symbols 200')
    lacks(examples(said['202']['content']['application/json'])[0], queued, 'POST /v1/symbols 202')

for line in wrong:
    print(*line)
assert not wrong, len(wrong)
