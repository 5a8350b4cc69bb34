// Tests of the operation of the built node that reads a feed and waits, without n8n, against a sandbox: PACKAGE=…
// node --test waits.test.mjs.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

const { PACKAGE, BASE_URL, SVC_API_KEY } = process.env;
const file = join(PACKAGE, 'dist', 'nodes', 'ContentAutomation', 'waits.js');
const { syncAndWait } = createRequire(import.meta.url)(file);

async function ask({ method, url, body }) {
  const response = await fetch(BASE_URL + url, {
    method,
    headers: { Authorization: `Bearer ${SVC_API_KEY}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  return { statusCode: response.status, headers: {}, body: await response.json() };
}

// What n8n gives to an operation.
const step = {
  getItemIndex: () => 3,
  getNode: () => ({ name: 'Content Automation', type: 'contentAutomation', parameters: {} }),
  getCredentials: async () => ({ apiKey: SVC_API_KEY, baseUrl: BASE_URL }),
  helpers: { httpRequestWithAuthentication: (_, request) => ask(request) },
};

const seller = { type: 'seller', name: 'Shop', settings: { currency: 'EUR' } };
const shop = (await ask({ method: 'POST', url: '/v1/factories', body: seller })).body.data;
const at = `/v1/factories/${shop.id}/feed`;
const put = (source, format) => ask({ method: 'PUT', url: at, body: { source, format, photos: 'none' } });
const set = (url, format) => put({ url }, format);
const sync = (body) => syncAndWait.call(step, { options: { method: 'POST', url: `${at}/sync`, body } });

test('a feed is read to the end of its run', async () => {
  await set('https://shop.example.com/sandbox.xml', 'google_xml');
  const [{ json, pairedItem }] = await sync();
  assert.deepEqual([json.state, json.created, json.refusals, pairedItem], ['completed', 200, [], { item: 3 }]);
});

test('a run that cannot be confirmed is an error of the API', async () => {
  await assert.rejects(sync({ confirm_run_id: 'run_01h455vb4pex5vsknk084sn02q' }), /can be confirmed/);
});

/** Uploads a file and makes it the feed. */
async function upload(text) {
  const body = { mime_type: 'text/csv', bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') };
  let media = (await ask({ method: 'POST', url: '/v1/media', body })).body.data;
  if (media.upload) {
    const { url, method, headers } = media.upload;
    await fetch(url, { method, headers, body: text });
  }
  for (let tries = 0; media.state === 'pending' && tries < 100; tries++) {
    await new Promise((later) => setTimeout(later, 50));
    media = (await ask({ method: 'GET', url: `/v1/media/${media.id}` })).body.data;
  }
  assert.equal(media.state, 'ready');
  await put({ media_id: media.id }, 'csv');
}

test('a run that fails is an error of the node, with the reason', async () => {
  await set('https://shop.example.com/sandbox.xml', 'csv');
  await assert.rejects(sync(), (error) => {
    assert.match(error.message, /^The feed was not read: .{20}/);
    assert.match(error.description, /^Run run_\w+ is failed$/);
    assert.deepEqual([error.constructor.name, error.context.itemIndex], ['NodeOperationError', 3]);
    return true;
  });
});

test('a run that is held is an output, and goes on once it is confirmed', async () => {
  await upload('sku,name,price\nA,Shoe,9 EUR\n');
  const [{ json: held, pairedItem }] = await sync();
  assert.deepEqual([held.state, held.held_reason, held.gone], ['held', 'mass_removal', 200]);
  assert.deepEqual(pairedItem, { item: 3 });
  const [{ json: run }] = await sync({ confirm_run_id: held.id });
  assert.deepEqual([run.id, run.state, run.archived, run.created], [held.id, 'completed', 200, 1]);
});
