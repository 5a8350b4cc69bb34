// Runs the table of scenarios: node scenarios.mjs URL ENTRY-OF-THE-BUILD NAME-OF-THE-RUN [SCENARIO…].
import { inspect } from 'node:util';
import { isDeepStrictEqual } from 'node:util';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const [server, build, run, ...names] = process.argv.slice(2);
const loaded = await import(pathToFileURL(resolve(build)).href);
const sdk = loaded.ContentAutomation ? loaded : loaded.default;
const KEY = 'svc_test_' + 'Ab0'.repeat(16) + 'Z';

const kinds = [
  [sdk.NotFoundError, 'not_found'], [sdk.UploadError, 'upload'],
  [sdk.InvalidRequestError, 'invalid_request'], [sdk.AuthenticationError, 'authentication'], [sdk.PaymentError, 'payment'],
  [sdk.PermissionError, 'permission'], [sdk.ConflictError, 'conflict'], [sdk.RateLimitError, 'rate_limit'],
  [sdk.ServerError, 'server'], [sdk.ApiError, 'api'], [sdk.TimeoutError, 'timeout'], [sdk.ConnectionError, 'connection'],
  [sdk.AnswerError, 'answer'], [sdk.FailedError, 'failed'], [sdk.WaitTimeoutError, 'wait_timeout'],
  [sdk.ConfigError, 'config'], [sdk.SignatureError, 'signature'],
];

async function play(s) {
  const o = { ids: [], pauses: [] };
  try {
    if (s.webhook) {
      const receiver = new sdk.Receiver(s.webhook.secrets, { now: () => s.webhook.now * 1000 });
      o.data = await receiver.event(s.webhook.headers, s.webhook.body);
      return o;
    }
    let now = 0;
    const client = new sdk.ContentAutomation({
      apiKey: s.key ?? KEY,
      baseUrl: (s.base ?? `${server}/s/${run}/${s.name}`) + (s.base_suffix ?? ''),
      ...(s.retries !== undefined && { maxRetries: s.retries }),
      ...(s.insecure && { allowInsecure: true }),
      ...(s.timeout_ms && { timeout: s.timeout_ms }),
      clock: { now: () => now, sleep: async (ms) => ((now += ms), void o.pauses.push(ms)) },
    });
    if (s.call.mode === 'client') return o;
    if (s.call.mode === 'print') {
      o.printed = [inspect(client, { depth: 9, showHidden: true }), String(client), JSON.stringify(client)].join();
      return o;
    }
    for (let i = 0; i < (s.call.times ?? 1); i++) await call(client, s.call, o);
  } catch (error) {
    o.error = error;
  }
  return o;
}

/** Returns the file of a scenario: as a File, or as a stream. */
function fileOf(c) {
  return c.stream ? new Blob([c.file]).stream() : new File([c.file], 'f.png', { type: 'image/png' });
}

async function call(client, c, o) {
  if (c.mode === 'upload') {
    o.data = await client.upload(fileOf(c), c.stream ? 'image/png' : undefined);
    return;
  }
  const [resource, method] = c.op.split('.');
  const name = c.mode === 'wait' ? method.replace(/^get/, 'waitFor') : method;
  const body = c.pad ? { ...c.body, script: 'x'.repeat(c.pad) } : c.body;
  const args = [...(c.path ?? []), ...(body ? [body] : []), ...(c.params || c.op.endsWith('.list') ? [c.params] : [])];
  const result = client[resource][name](...args, {
    ...(c.idempotency_key && { idempotencyKey: c.idempotency_key }), ...(c.if_match && { ifMatch: c.if_match }),
    ...(c.headers && { headers: c.headers }), ...(c.until && { until: c.until }),
    ...(c.wait_ms && { waitAtMost: c.wait_ms }),
  });
  if (c.mode === 'all') {
    for await (const item of result) if (o.ids.push(item.id) === c.take) break;
  } else if (c.mode === 'wait') {
    o.data = await result;
  } else {
    const raw = await result.withResponse();
    Object.assign(o, { data: await result, attempts: raw.attempts, replayed: raw.replayed });
  }
}

function check(s, o) {
  const faults = [];
  const same = (what, got, want) => isDeepStrictEqual(got, want) || faults.push(`${what} is ${inspect(got)}, want ${inspect(want)}`);
  const { error: want, data, length, ids, pauses, attempts, replayed } = s.expect;
  if (!want && o.error) faults.push(`error: ${inspect(o.error)}`);
  if (want) {
    const e = o.error ?? {};
    same('kind', kinds.find(([type]) => e instanceof type)?.[1], want.kind);
    const got = { ...e, request_id: e.requestId, retry_after: e.retryAfter, details: e.details?.map((d) => d.param) };
    got.code = e.code;
    for (const [name, value] of Object.entries(want)) if (name !== 'kind' && name !== 'says') same(name, got[name], value);
    if (want.says && !String(e.message).includes(want.says)) faults.push(`the error says ${e.message}`);
    if (attempts) same('attempts', e.attempts, attempts);
  } else if (attempts) same('attempts', o.attempts, attempts);
  for (const [name, value] of Object.entries(data ?? {})) same(name, o.data?.[name], value);
  for (const [name, value] of Object.entries(length ?? {})) same(name, o.data?.[name].length, value);
  if (ids) same('ids', o.ids, ids);
  if (pauses) {
    same('number of pauses', o.pauses.length, pauses.length);
    pauses.forEach(([min, max], i) => (o.pauses[i] >= min && o.pauses[i] <= max) || faults.push(`pauses are ${o.pauses}`));
  }
  if (replayed !== undefined) same('replayed', o.replayed, replayed);
  if (!o.printed ? inspect(o.error, { showHidden: true }).includes(KEY) : o.printed.includes('Ab0')) {
    faults.push('the key is shown');
  }
  return faults;
}

const table = (await (await fetch(`${server}/scenarios`)).json()).filter((s) => !names.length || names.includes(s.name));
let failed = 0;
await Promise.all(table.map(async (s) => {
  const faults = check(s, await play(s));
  faults.push(...(await (await fetch(`${server}/report/${run}/${s.name}`)).json()).faults);
  if (faults.length) failed++;
  for (const f of faults) console.error(`${s.name}: ${f}`);
}));
console.log(`${table.length - failed} of ${table.length} scenarios passed`);
process.exit(failed ? 1 : 0);
