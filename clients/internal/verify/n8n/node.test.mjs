// Tests of the node in the engine of n8n, against a sandbox: node --test node.test.mjs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { Engine, binary, bytes } from './engine.mjs';

const { BASE_URL, SVC_TEST_KEY, PICTURE } = process.env;
const engine = new Engine(BASE_URL, SVC_TEST_KEY);
const locator = (value) => ({ __rl: true, mode: 'id', value });

async function brand(name = 'Acme') {
  const [{ json }] = await engine.run({
    resource: 'factories',
    operation: 'create',
    type: 'brand',
    name,
    settings__brand_name: 'Acme',
    additionalFields: {},
  });
  return json;
}

const create = (factory, more = {}) => ({
  resource: 'content',
  operation: 'create',
  factory_id: locator(factory),
  kind: 'post',
  prompt: 'Our new shoe',
  additionalFields: {},
  ...more,
});

test('the credential is tested by the account', async () => {
  const [[{ json }]] = await engine.testCredential();
  assert.equal(json.data.mode, 'test');
  const wrong = new Engine(
    BASE_URL,
    SVC_TEST_KEY.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
  );
  await assert.rejects(wrong.testCredential(), (error) => error.httpCode === '401');
});

test('a factory is created, read, changed and deleted', async () => {
  const factory = await brand('First');
  assert.match(factory.id, /^fac_/);
  assert.deepEqual([factory.type, factory.settings.brand_name], ['brand', 'Acme']);
  const at = { resource: 'factories', factory_id: locator(factory.id) };
  const [{ json: changed }] = await engine.run({
    ...at,
    operation: 'update',
    updateFields: { name: 'Second', topics: 'shoes, running', ifVersion: factory.version },
  });
  assert.deepEqual([changed.name, changed.topics], ['Second', ['shoes', 'running']]);
  await assert.rejects(
    engine.run({ ...at, operation: 'update', updateFields: { name: 'Third', ifVersion: factory.version } }),
    (error) => error.httpCode === '412',
  );
  const [{ json: read }] = await engine.run({ ...at, operation: 'get' });
  assert.equal(read.name, 'Second');
  await engine.run({ ...at, operation: 'delete' });
  const [{ json: gone }] = await engine.run({ ...at, operation: 'get' }).catch((error) => [{ json: error }]);
  assert.ok(gone.httpCode === '404' || gone.state === 'deleted');
});

test('times, lists and JSON have the form of the API', async () => {
  const factory = await brand();
  const requests = [];
  engine.onRequest = (request) => requests.push(request);
  await engine
    .run(
      create(factory.id, {
        additionalFields: {
          hashtags: 'one, two',
          metadata: '{"row": "7"}',
          publish_at: '={{ $now.plus({ days: 3 }).toFormat("yyyy-MM-dd") + "T09:00:00" }}',
        },
      }),
    )
    .catch(() => {});
  const { body } = requests.find(({ method }) => method === 'POST');
  assert.deepEqual([body.hashtags, body.metadata], [['one', 'two'], { row: '7' }]);
  // The workflow is in Europe/Berlin.
  assert.match(body.publish_at, /T0[78]:00:00\.000Z$/);
  await engine.run({
    resource: 'content',
    operation: 'getAll',
    returnAll: false,
    limit: 5,
    filters: { metadata: '{"row": "7"}', kind: ['post', 'story'] },
  });
  engine.onRequest = () => {};
  const { qs } = requests.at(-1);
  assert.deepEqual(qs, { limit: 5, kind: 'post,story', 'metadata[row]': '7' });
  await assert.rejects(
    engine.run(create(factory.id, { additionalFields: { metadata: '{row' } })),
    (error) => error.message === 'The field metadata is malformed',
  );
});

test('lists have a limit, or all pages', async () => {
  const factory = await brand();
  const items = Array.from({ length: 7 }, (_, row) => ({ json: { row } }));
  const made = await engine.run(create(factory.id, { prompt: '=Row {{ $json.row }}' }), { items });
  assert.equal(new Set(made.map(({ json }) => json.id)).size, 7);
  assert.deepEqual(
    made.map(({ pairedItem }) => pairedItem.item),
    [0, 1, 2, 3, 4, 5, 6],
  );
  const list = { resource: 'content', operation: 'getAll', filters: { factory_id: locator(factory.id) } };
  assert.equal((await engine.run({ ...list, returnAll: false, limit: 3 })).length, 3);
  // The pages are made short, so that there are several.
  let requests = 0;
  engine.onRequest = (request) => {
    requests++;
    request.qs.limit = Math.min(request.qs.limit, 3);
  };
  const all = await engine.run({ ...list, returnAll: true });
  assert.deepEqual([new Set(all.map(({ json }) => json.id)).size, requests], [7, 3]);
  assert.equal((await engine.run({ ...list, returnAll: false, limit: 5 })).length, 5);
  engine.onRequest = () => {};
});

test('errors show the message, the field and the request', async () => {
  const factory = await brand();
  await assert.rejects(engine.run(create(factory.id, { additionalFields: { duration_seconds: 7000 } })), (error) => {
    assert.equal(error.httpCode, '422');
    assert.match(error.description, /\/duration_seconds.*\n/);
    assert.match(error.description, /Code: validation_failed/);
    assert.match(error.description, /Request ID: \S+/);
    assert.doesNotMatch(JSON.stringify(error), /svc_test_/);
    return true;
  });
  await assert.rejects(
    engine.run({ resource: 'content', operation: 'get', content_item_id: locator('={{ $json.none }}') }),
    (error) => error.message === 'The field content_item_id is empty',
  );
  await assert.rejects(
    engine.run({ resource: 'content', operation: 'get', content_item_id: locator('') }),
    /Parameter "Content Item" is required/,
  );
  const nowhere = new Engine('http://127.0.0.1:9', SVC_TEST_KEY);
  await assert.rejects(
    nowhere.run({ resource: 'account', operation: 'get' }),
    (error) => error.message === 'The service did not answer',
  );
});

test('a step that n8n repeats has one effect', async () => {
  const factory = await brand();
  const once = async (executionId, more) => {
    const [{ json }] = await engine.run(create(factory.id, more), { executionId });
    return json.id;
  };
  const first = await once('10');
  assert.equal(await once('10'), first);
  assert.notEqual(await once('11'), first);
  assert.notEqual(await once('10', { prompt: 'Another' }), first);
  const row = { additionalFields: { idempotencyKey: `row-${factory.id}` } };
  assert.equal(await once('12', row), await once('13', row));
});

test('a request that the service cannot take now is repeated with its key', async () => {
  const factory = await brand();
  const keys = [];
  engine.onRequest = (request) => {
    keys.push(request.headers['Idempotency-Key']);
    if (keys.length < 3) request.baseURL = 'http://127.0.0.1:9';
  };
  const [{ json }] = await engine.run(create(factory.id));
  engine.onRequest = () => {};
  assert.match(json.id, /^cnt_/);
  assert.deepEqual([keys.length, new Set(keys).size], [3, 1]);
});

test('lists in the editor are searched', async () => {
  const factory = await brand('Needle');
  const { results } = await engine.list('listSearch', 'searchFactory', {}, 'needle');
  assert.deepEqual(results, [{ name: `Needle (${factory.state})`, value: factory.id }]);
  const options = await engine.list('loadOptions', 'loadFactory');
  assert.ok(options.some(({ value }) => value === factory.id));
  const current = { resource: 'factories', operation: 'applyProposal', factory_id: locator(factory.id) };
  const { results: none } = await engine.list('listSearch', 'searchProposal', current);
  assert.deepEqual(none, []);
});

test('a file is uploaded and downloaded', async () => {
  const content = readFileSync(PICTURE);
  const items = [{ json: {}, binary: { photo: await binary(content, 'image/png', 'logo.png') } }];
  const upload = { resource: 'media', operation: 'upload', binaryPropertyName: 'photo', additionalFields: {} };
  const [{ json: media }] = await engine.run(upload, { items });
  assert.deepEqual([media.state, media.bytes], ['ready', content.length]);
  const [{ json: again }] = await engine.run(upload, { items });
  assert.equal(again.id, media.id);
  const [file] = await engine.run({
    resource: 'media',
    operation: 'download',
    media_id: locator(media.id),
    binaryPropertyName: 'file',
  });
  assert.equal(file.binary.file.mimeType, 'image/png');
  assert.deepEqual(await bytes(file, 'file'), content);
  await assert.rejects(
    engine.run(upload, { items: [{ json: {}, binary: { photo: await binary('no picture', 'image/png', 'x.png') } }] }),
    (error) => /^The file was not accepted: /.test(error.message),
  );
});

test('the media of an item are downloaded', async () => {
  const factory = await brand();
  const [{ json: item }] = await engine.run(create(factory.id));
  const download = {
    resource: 'content',
    operation: 'downloadMedia',
    content_item_id: locator(item.id),
    roles: ['final'],
    binaryPropertyName: 'data',
  };
  let files;
  for (let tries = 0; !files; tries++) {
    const [{ json }] = await engine.run({ resource: 'content', operation: 'get', content_item_id: locator(item.id) });
    if (json.state === 'generated') files = await engine.run(download);
    else if (tries > 200) assert.fail(`the item is ${json.state}`);
  }
  const content = await bytes(files[0]);
  assert.equal(content.length, files[0].json.bytes);
  await assert.rejects(engine.run({ ...download, roles: ['captions'] }), (error) =>
    /has no file to download/.test(error.message),
  );
});

test('an agent uses the node as its tool', async () => {
  const factory = await brand();
  const { Agent } = await engine.asTool(
    { ...create(factory.id), prompt: "={{ $fromAI('prompt', 'What the post is about', 'string') }}" },
    { prompt: 'Our sale' },
  );
  assert.deepEqual(Agent.items[0].json.schema, ['prompt']);
  // The repeat of an agent is no second item.
  const [[first], [second]] = Agent.items[0].json.said;
  assert.deepEqual([first.prompt, first.id], ['Our sale', second.id]);
});

/** Runs a node against a service that gives answers in turn, and returns the requests that it got. */
async function against(answers, parameters) {
  const requests = [];
  const server = createServer((req, res) => {
    const [status, body, headers = {}] = answers[Math.min(requests.length, answers.length - 1)];
    requests.push({
      method: req.method,
      url: req.url,
      key: req.headers['idempotency-key'],
      auth: req.headers.authorization,
    });
    req
      .resume()
      .on('end', () =>
        res.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body)),
      );
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    const items = await new Engine(`http://127.0.0.1:${server.address().port}/`, SVC_TEST_KEY).run(parameters);
    return { requests, items };
  } catch (error) {
    return { requests, error };
  } finally {
    server.close();
  }
}

const done = [201, { data: { id: 'cnt_1' }, error: null, request_id: 'r1' }];
const refused = (code, status, headers) => [
  status,
  { data: null, error: { code, message: `no: ${code}` }, request_id: 'r2' },
  headers,
];

test('429 and 5xx are repeated within bounds', async () => {
  const busy = await against(
    [refused('rate_limited', 429, { 'Retry-After': '1' }), refused('internal', 503), done],
    create('fac_1'),
  );
  assert.deepEqual([busy.requests.length, new Set(busy.requests.map(({ key }) => key)).size], [3, 1]);
  assert.equal(busy.items[0].json.id, 'cnt_1');
  const down = await against([refused('internal', 500)], create('fac_1'));
  assert.deepEqual([down.requests.length, down.error.httpCode, down.error.message], [3, '500', 'no: internal']);
  const later = await against([refused('rate_limited', 429, { 'Retry-After': '3600' })], create('fac_1'));
  assert.deepEqual([later.requests.length, later.error.httpCode], [1, '429']);
  assert.match(later.error.description, /Retry after 3600 seconds/);
  const running = await against([refused('idempotency_in_progress', 409), done], create('fac_1'));
  assert.deepEqual([running.requests.length, running.items[0].json.id], [2, 'cnt_1']);
  const wrong = await against([refused('invalid_state', 409)], create('fac_1'));
  assert.deepEqual([wrong.requests.length, wrong.error.httpCode], [1, '409']);
});

test('a cursor that came before ends a list with an error', async () => {
  const page = (id, next) => [200, { data: [{ id }], error: null, request_id: `r-${id}`, next_cursor: next }];
  const list = { resource: 'content', operation: 'getAll', filters: {} };
  const cycle = [page('a', 'c'), page('b', 'd'), page('c', 'c'), done];
  for (const limits of [{ returnAll: true }, { returnAll: false, limit: 50 }]) {
    const { requests, error } = await against(cycle, { ...list, ...limits });
    assert.deepEqual([requests.length, error.message], [3, 'The list has no end: next_cursor came before']);
    assert.equal(error.description, 'Request ID: r-c');
  }
  const { requests, items } = await against(cycle, { ...list, returnAll: false, limit: 3 });
  assert.deepEqual([requests.length, items.map(({ json }) => json.id)], [3, ['a', 'b', 'c']]);
});

test('an answer that is not of the API is an error', async () => {
  for (const answer of [
    [200, 'a page'],
    [502, 'a proxy'],
    [200, [1]],
  ]) {
    const { error } = await against([answer], create('fac_1'));
    assert.match(error.message, /The answer is not one of the API \(status \d+\)/);
  }
});

test('a redirect is not followed, and a live key is sent by HTTPS only', async () => {
  const moved = [302, {}, { Location: `${BASE_URL}/v1/me` }];
  const { error } = await against([moved], { resource: 'account', operation: 'get' });
  assert.match(error.message, /status 302/);
  const open = new Engine('http://api.example.com', SVC_TEST_KEY.replace('svc_test_', 'svc_live_'));
  await assert.rejects(open.run({ resource: 'account', operation: 'get' }), ({ message }) =>
    /must use https/.test(message),
  );
});

test('an id has no effect on the rest of the path', async () => {
  const { requests } = await against([done], {
    resource: 'content',
    operation: 'get',
    content_item_id: locator('../me?x=1'),
  });
  assert.equal(requests[0].url, '/v1/content-items/..%2Fme%3Fx%3D1');
});

test('with "continue on fail", an item that fails is not the end of the others', async () => {
  const factory = await brand();
  const items = [{ json: { seconds: 7000 } }, { json: { seconds: 15 } }];
  const output = await engine.run(
    create(factory.id, { kind: 'video', additionalFields: { duration_seconds: '={{ $json.seconds }}' } }),
    { items, onError: 'continueRegularOutput' },
  );
  assert.equal(output.length, 2);
  assert.match(JSON.stringify(output[0]), /duration_seconds|at most 180/);
  assert.match(output[1].json.id, /^cnt_/);
});

test('a feed is set, and read to the end of its run', async () => {
  const shop = { resource: 'factories', operation: 'create', type: 'seller', name: 'Shop', settings__currency: 'EUR' };
  const [{ json: factory }] = await engine.run({ ...shop, additionalFields: {} });
  const at = { resource: 'feeds', factory_id: locator(factory.id) };
  await engine.run({
    ...at,
    operation: 'set',
    format: 'google_xml',
    additionalFields: { source__url: 'https://shop.example.com/sandbox.xml', photos: 'none' },
  });
  const sync = { ...at, operation: 'syncAndWait', additionalFields: {} };
  const [{ json: run, pairedItem }] = await engine.run(sync);
  assert.deepEqual([run.state, run.created, run.refused, pairedItem], ['completed', 200, 0, { item: 0 }]);
  const none = { ...sync, additionalFields: { confirm_run_id: 'run_none' } };
  await assert.rejects(engine.run(none), ({ description }) => /can be confirmed/.test(description));
  await engine.run({
    ...at,
    operation: 'set',
    format: 'csv',
    additionalFields: { source__url: 'https://shop.example.com/sandbox.xml', photos: 'none' },
  });
  // Another execution is no repeat of the first one.
  const later = engine.run(sync, { executionId: '2' });
  await assert.rejects(later, ({ message }) => /^The feed was not read: .*column/.test(message));
});
