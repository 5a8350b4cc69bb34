// Tests of the trigger in the engine of n8n, against a sandbox: node --test trigger.test.mjs.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Engine, TRIGGER } from './engine.mjs';

const { BASE_URL, SVC_TEST_KEY } = process.env;
const engine = new Engine(BASE_URL, SVC_TEST_KEY);
const workflow = engine.workflow({
  nodes: [
    { name: 'Trigger', type: TRIGGER, webhookId: 'b1f7', parameters: { events: ['content.generated'], factories: [] } },
  ],
});
const node = workflow.getNode('Trigger');
const kept = () => workflow.getStaticData('node', node);
const body = JSON.stringify({
  id: 'evt_1',
  type: 'content.generated',
  data: { object: { id: 'cnt_1', title: 'Größe' } },
});

/** The executions, and the waiting tests. */
const runs = [];
let wake = () => {};
let server;

before(async () => {
  server = await engine.listen(workflow, node, (outputs) => {
    if (outputs) runs.push(outputs.Trigger.items[0].json);
    wake();
  });
});
after(() => server.close());

async function webhooks() {
  const response = await fetch(`${BASE_URL}/v1/webhooks`, { headers: { Authorization: `Bearer ${SVC_TEST_KEY}` } });
  return (await response.json()).data;
}

/** Sends a message as the API does. */
async function deliver({
  id = 'evt_1',
  at = Date.now(),
  secret = kept().secret,
  text = body,
  prefix = 'v1,',
  before = '',
} = {}) {
  const time = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = prefix + createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64');
  const response = await fetch(`${engine.webhookBaseUrl}/b1f7/webhook`, {
    method: 'POST',
    body: text,
    headers: { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': before + signature },
  });
  return [response.status, await response.text()];
}

test('activation makes the webhook once', async () => {
  await engine.activate(workflow, node);
  const { webhookId, secret } = kept();
  const [webhook, ...others] = await webhooks();
  assert.deepEqual([webhook.id, webhook.event_types, others], [webhookId, ['content.generated'], []]);
  assert.match(secret, /^whsec_/);
  assert.match(webhook.url, /^http:\/\/127\.0\.0\.1:\d+\/webhook\/b1f7\/webhook$|\/webhook\/wf1\//);
  await engine.activate(workflow, node);
  assert.deepEqual([kept().webhookId, (await webhooks()).length], [webhookId, 1]);
});

test('a webhook that has changed, is disabled or has lost its secret is made anew', async () => {
  for (const change of [
    async () => (node.parameters.events = ['content.failed', 'content.generated']),
    async ({ id }) => {
      const headers = { Authorization: `Bearer ${SVC_TEST_KEY}`, 'Content-Type': 'application/json' };
      const request = { method: 'PATCH', headers, body: JSON.stringify({ state: 'disabled' }) };
      assert.equal((await fetch(`${BASE_URL}/v1/webhooks/${id}`, request)).status, 200);
    },
    async () => delete kept().secret,
    async () => delete kept().webhookId,
  ]) {
    const [old] = await webhooks();
    await change(old);
    await engine.activate(workflow, node);
    const [now, ...others] = await webhooks();
    assert.notEqual(now.id, old.id);
    assert.deepEqual([now.id, now.state, now.event_types.length, others], [kept().webhookId, 'enabled', 2, []]);
  }
});

test('a webhook may be for some factories', async () => {
  const [{ json: factory }] = await engine.run({
    ...{ resource: 'factories', operation: 'create', type: 'brand', name: 'Acme', settings__brand_name: 'Acme' },
    additionalFields: {},
  });
  node.parameters.factories = [factory.id];
  await engine.activate(workflow, node);
  const [webhook, ...others] = await webhooks();
  assert.deepEqual([webhook.id, webhook.factory_ids, others], [kept().webhookId, [factory.id], []]);
  node.parameters.factories = [];
  await engine.activate(workflow, node);
  assert.deepEqual((await webhooks())[0].factory_ids, []);
});

test('a signed message starts the workflow once', async () => {
  runs.length = 0;
  const [status] = await deliver();
  assert.equal(status, 200);
  assert.deepEqual(runs, [JSON.parse(body)]);
  assert.deepEqual(await deliver(), [200, '{"repeated":true}']);
  assert.equal(runs.length, 1);
  // Two secrets are valid while one is replaced.
  assert.equal((await deliver({ id: 'evt_2', before: `v1,${'A'.repeat(43)}= ` }))[0], 200);
  assert.equal(runs.length, 2);
});

test('a message with a wrong signature or an old time starts nothing', async () => {
  runs.length = 0;
  const minutes = 60_000;
  for (const wrong of [
    { secret: `whsec_${Buffer.alloc(32).toString('base64')}` },
    { text: body.replace('generated', 'published') },
    { prefix: 'v2,' },
    { prefix: 'v1,AA' },
    { at: Date.now() - 6 * minutes },
    { at: Date.now() + 6 * minutes },
    { id: '' },
  ]) {
    assert.equal((await deliver({ id: 'evt_3', ...wrong }))[0], 401, JSON.stringify(wrong));
  }
  assert.deepEqual(runs, []);
  assert.equal((await deliver({ id: 'evt_3' }))[0], 200);
});

test('the ids of messages are bounded', async () => {
  kept().seen = Array.from({ length: 1000 }, (_, at) => `old_${at}`);
  await deliver({ id: 'evt_4' });
  assert.deepEqual([kept().seen.length, kept().seen.at(-1), kept().seen[0]], [1000, 'evt_4', 'old_1']);
});

test('the API delivers a sample', async () => {
  runs.length = 0;
  const arrived = new Promise((ready) => (wake = ready));
  await engine.run({
    resource: 'webhooks',
    operation: 'test',
    webhook_id: { __rl: true, mode: 'id', value: kept().webhookId },
    event_type: 'content.generated',
    additionalFields: {},
  });
  await arrived;
  assert.equal(runs[0].type, 'content.generated');
});

test('deactivation deletes the webhook, also one that is gone', async () => {
  const { webhookId } = kept();
  assert.equal(await engine.hook('delete', workflow, node), true);
  assert.deepEqual([await webhooks(), kept()], [[], {}]);
  Object.assign(kept(), { webhookId });
  assert.equal(await engine.hook('delete', workflow, node), true);
  assert.equal(await engine.hook('checkExists', workflow, node), false);
});
