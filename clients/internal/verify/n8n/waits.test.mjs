// Tests of the operation of the built node that reads a feed and waits, without n8n, against a sandbox: PACKAGE=…
// node --test waits.test.mjs.
import assert from 'node:assert/strict';
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
const set = (url, format) => ask({ method: 'PUT', url: at, body: { source: { url }, format, photos: 'none' } });
const sync = (body) => syncAndWait.call(step, { options: { method: 'POST', url: `${at}/sync`, body } });

test('a feed is read to the end of its run', async () => {
  await set('https://shop.example.com/sandbox.xml', 'google_xml');
  const [{ json, pairedItem }] = await sync();
  assert.deepEqual([json.state, json.created, json.refusals, pairedItem], ['completed', 200, [], { item: 3 }]);
});

test('a run that cannot be confirmed is an error of the API', async () => {
  await assert.rejects(sync({ confirm_run_id: 'run_01h455vb4pex5vsknk084sn02q' }), /can be confirmed/);
});
