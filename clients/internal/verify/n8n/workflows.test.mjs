// Tests of the workflow templates in the engine of n8n, against a sandbox: node --test workflows.test.mjs.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Engine, TRIGGER, binary, bytes } from './engine.mjs';

const { BASE_URL, PICTURE, SVC_TEST_KEY, WORKFLOWS } = process.env;
const engine = new Engine(BASE_URL, SVC_TEST_KEY);
const read = (name) => engine.workflow(JSON.parse(readFileSync(join(WORKFLOWS, `${name}.json`), 'utf8')));

/** Runs a workflow whose second part begins with an event. It returns the outputs of both parts. */
async function withEvent(name, trigger, start, items) {
  const workflow = read(name);
  const node = workflow.getNode(trigger);
  let done;
  const second = new Promise((ready) => (done = ready));
  const server = await engine.listen(workflow, node, (outputs) => outputs && done(outputs));
  try {
    await engine.activate(workflow, node);
    const first = await engine.execute(workflow, start, items, `${name}-1`);
    return { first, second: await second, workflow };
  } finally {
    await engine.hook('delete', workflow, node);
    server.close();
  }
}

const failures = (outputs) =>
  Object.entries(outputs)
    .filter(([, { error }]) => error)
    .map(([node, { error }]) => [node, error.message]);

async function brand(name) {
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

test('every template has nodes of this package, and no name of a credential is left out', () => {
  const files = readdirSync(WORKFLOWS);
  assert.equal(files.length, 3);
  for (const file of files) {
    const { nodes } = JSON.parse(readFileSync(join(WORKFLOWS, file), 'utf8'));
    const own = nodes.filter(({ type }) => type.startsWith('n8n-nodes-content-automation.'));
    assert.ok(own.length > 0 && own.every(({ credentials }) => credentials.contentAutomationApi), file);
    assert.ok(
      own.every(({ type, webhookId }) => (type === TRIGGER) === (webhookId !== undefined)),
      file,
    );
  }
});

test('new row → item → wait for the event → media', async () => {
  const factory = await brand('Rows');
  const items = [{ json: { row_number: 7, factory_id: factory.id, prompt: 'Our trail shoe' } }];
  const { first, second, workflow } = await withEvent('row-to-media', 'Generated', 'New Row', items);
  assert.deepEqual([failures(first), failures(second)], [[], []]);
  const [{ json: item }] = first['Create Item'].items;
  assert.equal(item.metadata.row, '7');
  const [stored] = second['Store File'].items;
  assert.equal(stored.json.resource_id, item.id);
  assert.equal((await bytes(stored)).length, stored.json.bytes);
  assert.equal(stored.binary.data.mimeType, stored.json.mime_type);
  // The same row in another execution makes no second item.
  const again = await engine.execute(workflow, 'New Row', items, 'another');
  assert.equal(again['Create Item'].items[0].json.id, item.id);
});

test('new picture → video', async () => {
  const items = [
    { json: { id: 'drive' }, binary: { data: await binary(readFileSync(PICTURE), 'image/png', 'shoe.png') } },
  ];
  const { first, second } = await withEvent('picture-to-video', 'Video Ready', 'New Picture', items);
  assert.deepEqual([failures(first), failures(second)], [[], []]);
  const [stored] = second['Store Video'].items;
  assert.equal(stored.json.resource_id, first['Make Video'].items[0].json.id);
  assert.match(stored.binary.data.mimeType, /^video\//);
});

test('a week of content every Monday', async () => {
  const factory = await brand('Weeks');
  const workflow = read('week-plan');
  const outputs = await engine.execute(workflow, 'Every Monday');
  assert.deepEqual(failures(outputs), []);
  const plans = outputs['Report'].items.map(({ json }) => json);
  const plan = plans.find(({ factory_id: of }) => of === factory.id);
  assert.equal(plan.items.total, 7);
  const again = await engine.execute(workflow, 'Every Monday', [{ json: {} }], 'another');
  assert.ok(again['Report'].items.some(({ json }) => json.id === plan.id));
});
