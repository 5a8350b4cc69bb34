// Tests of the check of signatures of the built node, without n8n: PACKAGE=… node --test signature.test.mjs.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

const file = join(process.env.PACKAGE, 'dist', 'nodes', 'ContentAutomationTrigger', 'signature.js');
const { problemOf } = createRequire(import.meta.url)(file);
const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const body = Buffer.from('{"id":"evt_1","type":"content.generated"}');
const now = 1795255200;
const key = Buffer.from(secret.slice(6), 'base64');
const sum = createHmac('sha256', key).update(`evt_1.${now}.${body}`).digest('base64');
const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': String(now), 'webhook-signature': `v1,${sum}` };

test('a signed request is right', () => {
  assert.equal(problemOf(headers, body, secret, now * 1000), '');
});

test('each odd request without a signature has a problem, and throws nothing', () => {
  for (const change of [
    { 'webhook-timestamp': '9'.repeat(400) }, { 'webhook-timestamp': '9'.repeat(5000) }, { 'webhook-timestamp': '-1' },
    { 'webhook-timestamp': '1e9' }, { 'webhook-timestamp': '٣٤' }, { 'webhook-timestamp': undefined },
    { 'webhook-timestamp': [String(now), String(now)] }, { 'webhook-id': '\ud800' }, { 'webhook-id': ['a', 'b'] },
    { 'webhook-id': '' }, { 'webhook-signature': 'v1,\ud800' }, { 'webhook-signature': 'v1,é' },
    { 'webhook-signature': 'v1,' }, { 'webhook-signature': ' ' }, { 'webhook-signature': `v2,${sum}` },
  ]) {
    assert.notEqual(problemOf({ ...headers, ...change }, body, secret, now * 1000), '', JSON.stringify(change));
  }
  assert.notEqual(problemOf({}, body, secret, now * 1000), '');
  assert.notEqual(problemOf(headers, Buffer.alloc(0), secret, now * 1000), '');
});
