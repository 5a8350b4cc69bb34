// Tests what the table of scenarios does not: node --test features.mjs, with ENTRY, the entry of the build.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const sdk = await import(pathToFileURL(resolve(process.env.ENTRY)).href);
const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const KEY = 'svc_test_' + 'Ab0'.repeat(16) + 'Z';

/** Returns a client whose requests a function answers, and the requests. */
function faked(answer, options = {}) {
  const sent = [];
  const client = new sdk.ContentAutomation({
    apiKey: KEY, baseUrl: 'http://localhost:1', clock: { now: () => 0, sleep: async () => undefined }, ...options,
    fetch: async (url, init) => {
      sent.push({ url, ...init });
      const { status = 200, headers, ...body } = answer(new URL(url), sent.length);
      return Response.json({ data: null, error: null, request_id: `req_${sent.length}`, ...body }, { status, headers });
    },
  });
  return { client, sent };
}

const pages = (url) => {
  const at = Number(url.searchParams.get('cursor') ?? 0);
  const next_cursor = at < 2 ? String(at + 1) : null;
  return { data: [{ id: `${at}a` }, { id: `${at}b` }], next_cursor, headers: { RateLimit: 'r=9;t=3' } };
};

test('a list is read once, however often it is awaited', async () => {
  const { client, sent } = faked(pages);
  const list = client.content.list({ limit: 2 });
  assert.equal(sent.length, 0);
  const [one, two] = [await list, await list];
  assert.deepEqual([one.items, two.nextCursor, sent.length], [[{ id: '0a' }, { id: '0b' }], '1', 1]);
  const raw = await list.withResponse();
  assert.deepEqual([raw.requestId, raw.headers.get('RateLimit'), one.requestId], ['req_1', 'r=9;t=3', 'req_1']);
  assert.equal(sent.length, 1);
  const next = await one.getNextPage();
  assert.deepEqual([next.items[0].id, next.requestId], ['1a', 'req_2']);
  assert.equal(await (await next.getNextPage()).getNextPage(), undefined);
});

test('a list is read into an array', async () => {
  const { client, sent } = faked(pages);
  assert.equal((await client.content.list().toArray()).map((i) => i.id).join(), '0a,0b,1a,1b,2a,2b');
  assert.equal((await client.content.list().toArray({ limit: 3 })).length, 3);
  assert.equal(sent.length, 5);
  assert.deepEqual(await client.content.list().toArray({ limit: 0 }), []);
});

test('a list is a promise', async () => {
  const error = { code: 'not_found', type: 'invalid_request_error', message: 'm' };
  const { client } = faked(() => ({ status: 404, error }));
  let ended = 0;
  const code = await client.content.list().finally(() => ended++).catch((error) => error.code);
  assert.deepEqual([code, ended], ['not_found', 1]);
  await assert.rejects(client.content.list(), sdk.NotFoundError);
});

test('key and address come from the environment', () => {
  Object.assign(process.env, { SVC_API_KEY: KEY, BASE_URL: 'http://localhost:7' });
  assert.equal(String(new sdk.ContentAutomation()), 'ContentAutomation(http://localhost:7, svc_test_…)');
  assert.throws(() => new sdk.ContentAutomation({ apiKey: '' }), /SVC_API_KEY/);
  delete process.env.BASE_URL;
  assert.throws(() => new sdk.ContentAutomation(), /BASE_URL/);
});

test('white space of a file with other line breaks is removed, or told', () => {
  const url = 'http://localhost:7';
  for (const end of ['\r', '\r\n', ' ']) {
    Object.assign(process.env, { SVC_API_KEY: KEY + end, BASE_URL: url + end });
    assert.equal(String(new sdk.ContentAutomation()), 'ContentAutomation(http://localhost:7, svc_test_…)');
    for (const [name, make] of [
      ['API key', () => new sdk.ContentAutomation({ apiKey: KEY + end, baseUrl: url })],
      ['base URL', () => new sdk.ContentAutomation({ apiKey: KEY, baseUrl: url + end })],
      ['signing secret', () => new sdk.Receiver(SECRET + end)],
    ]) {
      assert.throws(make, { name: 'ConfigError', message: `the ${name} has a space or a line break at its start or end` });
    }
  }
  delete process.env.BASE_URL;
});

test('every attempt is told', async () => {
  const log = [];
  const { client } = faked((_, n) => n === 1
    ? { status: 503, error: { code: 'timeout', type: 'api_error', message: 'm' } }
    : { data: { id: 'cnt_1' }, headers: { Deprecation: '@1795255200', Sunset: 'Thu, 01 Jul 2027 00:00:00 GMT' } },
  { log: (entry) => log.push(entry), headers: { 'X-Team': 'a', 'X-Trace': 'all' } });
  await client.content.get('cnt_1', { headers: { 'X-Trace': 'one' } });
  assert.deepEqual(log.map((e) => [e.level, e.status, e.attempt, e.requestId, e.path]),
    [['warn', 503, 1, 'req_1', '/v1/content-items/cnt_1'], ['warn', 200, 2, 'req_2', '/v1/content-items/cnt_1']]);
  assert.ok(log[0].pause >= 250 && log[0].error instanceof sdk.ServerError);
  assert.deepEqual([log[1].deprecation, log[1].sunset], ['@1795255200', 'Thu, 01 Jul 2027 00:00:00 GMT']);
  assert.match(log[1].message, /deprecated, and ends at Thu, 01 Jul 2027/);
  assert.ok(!JSON.stringify(log).includes(KEY));
});

test('headers of the client are sent, and those of a call replace them', async () => {
  const { client, sent } = faked(() => ({ data: {} }), { headers: { 'X-Team': 'a', 'X-Trace': 'all' } });
  await client.account.get({ headers: { 'X-Trace': 'one' } });
  assert.deepEqual([sent[0].headers['X-Team'], sent[0].headers['X-Trace']], ['a', 'one']);
});

test('an idempotency key or a header that is null or undefined counts as none', async () => {
  const { client, sent } = faked(() => ({ data: {} }));
  await client.content.cancel('cnt_1', { idempotencyKey: null, headers: { 'idempotency-key': undefined } });
  assert.match(sent[0].headers['Idempotency-Key'], /^[0-9a-f-]{36}$/);
});

test('a signed test event is verified, and a parsed one says what to do', async () => {
  const receiver = new sdk.Receiver('whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=');
  const event = { id: 'evt_1', type: 'content.generated', data: { object: { id: 'cnt_1' } } };
  const { headers, body } = await receiver.sign(event);
  assert.equal(headers['webhook-id'], 'evt_1');
  assert.equal((await receiver.event(headers, body)).type, 'content.generated');
  assert.equal((await receiver.event(new Headers(headers), new TextEncoder().encode(body).buffer)).id, 'evt_1');
  await assert.rejects(receiver.event(headers, body + ' '), sdk.SignatureError);
  await assert.rejects(receiver.event(headers, JSON.parse(body)), (error) =>
    error instanceof sdk.ConfigError && /express\.raw/.test(error.message) && /request\.text\(\)/.test(error.message));
});

test('headers and bodies of other packages and realms are taken', async () => {
  // As those of undici and node-fetch: with the methods of Headers, of a class of their own.
  class Others {
    #all;
    constructor(all) { this.#all = new Map(Object.entries(all)); }
    get(name) { return this.#all.get(name.toLowerCase()) ?? null; }
    [Symbol.iterator]() { return this.#all[Symbol.iterator](); }
  }
  const receiver = new sdk.Receiver(SECRET);
  const { headers, body } = await receiver.sign({ id: 'evt_1', type: 'content.generated', title: 'Größe' });
  const upper = Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]);
  for (const all of [
    new Others(headers), new Headers(headers), new Map(upper), upper, Object.fromEntries(upper),
    { get: (name) => headers[name] }, runInNewContext('Object.assign({}, all)', { all: headers }),
    Object.fromEntries(upper.map(([name, value]) => [name, [value]])),
  ]) {
    assert.equal((await receiver.event(all, body)).id, 'evt_1');
  }
  const bytes = new TextEncoder().encode(body);
  const of = (code) => runInNewContext(code, { all: [...bytes] });
  for (const content of [
    Buffer.from(body), bytes.buffer, new DataView(bytes.buffer), of('new Uint8Array(all)'),
    of('new Uint8Array(all).buffer'), new Uint8Array([0, ...bytes]).subarray(1),
  ]) {
    assert.equal((await receiver.event(headers, content)).id, 'evt_1');
  }
});

test('an odd request without a signature is a signature error', async () => {
  const receiver = new sdk.Receiver(SECRET);
  const { headers, body } = await receiver.sign({ id: 'evt_1', type: 'content.generated' });
  for (const change of [
    { 'webhook-timestamp': '9'.repeat(400) }, { 'webhook-timestamp': '9'.repeat(5000) }, { 'webhook-timestamp': '-1' },
    { 'webhook-timestamp': '1e9' }, { 'webhook-timestamp': '٣٤' }, { 'webhook-timestamp': undefined },
    { 'webhook-id': '\ud800' }, { 'webhook-id': ['a', 'b'] }, { 'webhook-signature': 'v1,\ud800' },
    { 'webhook-signature': 'v1,é' }, { 'webhook-signature': 'v1,' }, { 'webhook-signature': ' ' },
  ]) {
    await assert.rejects(receiver.event({ ...headers, ...change }, body), sdk.SignatureError, JSON.stringify(change));
  }
  for (const all of [undefined, null, {}, [], new Headers(), new Map([[1, 2]]), [null, 'text']]) {
    await assert.rejects(receiver.event(all, body), sdk.SignatureError);
  }
  for (const text of ['\ud800', '', '\ufeff' + body]) await assert.rejects(receiver.event(headers, text), sdk.SignatureError);
});

test('a signed body that is no event is a signature error', async () => {
  const time = String(Math.floor(Date.now() / 1000));
  for (const body of ['', 'null', '[]', '1', '{', '{"a":']) {
    const sum = createHmac('sha256', Buffer.from(SECRET.slice(6), 'base64')).update(`evt_1.${time}.${body}`).digest('base64');
    const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': time, 'webhook-signature': `v1,${sum}` };
    await assert.rejects(new sdk.Receiver(SECRET).event(headers, body), { message: 'the body is no event' });
  }
});

test('times of other realms are written as times, and files of other packages are taken', async () => {
  const { client, sent } = faked((url, n) => n === 1 ? { data: [] } : n === 2
    ? { data: { id: 'med_1', upload: { url: 'http://localhost:1/put', method: 'PUT', headers: {} } } }
    : { data: { id: 'med_1', state: 'ready' } });
  await client.content.list({ publish_from: runInNewContext('new Date(0)') });
  assert.match(sent[0].url, /publish_from=1970-01-01T00%3A00%3A00\.000Z/);
  const inner = new Blob(['picture']);
  await client.upload({ type: 'image/png', size: 7, stream: () => inner.stream() });
  const { bytes, mime_type, sha256 } = JSON.parse(sent[1].body);
  const want = createHash('sha256').update('picture').digest('hex');
  assert.deepEqual([bytes, mime_type, sha256, sent[2].body.size], [7, 'image/png', want, 7]);
  await assert.rejects(client.upload(runInNewContext('new ArrayBuffer(8)')), /MIME type/);
});

test('an upload of 200 MiB is not held in memory', async (t) => {
  const size = 200 << 20;
  let got = 0;
  const server = createServer((request, response) => {
    request.on('data', (part) => { if (request.method === 'PUT') got += part.length; });
    const upload = { url: `http://localhost:${server.address().port}/put`, method: 'PUT', headers: {} };
    const data = { id: 'med_1', state: request.method === 'GET' ? 'ready' : 'pending', upload };
    request.on('end', () => response.end(JSON.stringify({ data, error: null, request_id: 'r' })));
  });
  await new Promise((done) => server.listen(0, done));
  t.after(() => (server.closeAllConnections(), server.close()));
  const dir = await mkdtemp(join(tmpdir(), 'upload-test-'));
  const file = await open(join(dir, 'film.mp4'), 'w');
  await file.truncate(size);
  await file.close();
  const client = new sdk.ContentAutomation({ apiKey: KEY, baseUrl: `http://localhost:${server.address().port}` });
  const blob = await openAsBlob(join(dir, 'film.mp4'), { type: 'video/mp4' });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  let most = 0;
  const watch = setInterval(() => (collect(), (most = Math.max(most, process.memoryUsage().external))), 50);
  t.after(() => clearInterval(watch));
  await client.upload(blob);
  assert.equal(got, size);
  process.env.TMPDIR = dir; // where a stream goes
  await client.upload(blob.stream(), 'video/mp4');
  assert.equal(got, 2 * size);
  assert.deepEqual(await readdir(dir), ['film.mp4']);
  assert.ok(most < 80 << 20, `it took ${most >> 20} MiB`);
  await rm(dir, { recursive: true });
});
