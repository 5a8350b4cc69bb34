// Walks whole journeys in a real Chromium, as people do: the first admin, an auditor, and a client on a phone, or the
// seven persons of docs/console.md one after the other. ONLY or the test chooses the walk.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { browser, everywhere, expect, expected, finish, given, inspect, open, secret, seen, signIn, wrong } from './tools.mjs';

// The keystroke-level model: how long a practiced person takes to decide, to point, to press a button of the mouse or a
// key, and to move a hand between the mouse and the keyboard.
const decide = 1.35, point = 1.1, press = 0.2, key = 0.28, home = 0.4;

// hand acts as a person does, and counts.
function hand(page) {
  const walk = { clicks: 0, keys: 0, loads: 0, person: 0, pages: 0 };
  page.on('load', () => { walk.loads++; });
  const timed = async (act) => {
    const from = performance.now();
    await act();
    await page.waitForLoadState();
    walk.pages += (performance.now() - from) / 1000;
  };
  return {
    walk,
    click: async (at) => { walk.clicks++; walk.person += decide + point + press; await timed(() => at.click()); },
    tap: async (at) => { walk.clicks++; walk.person += decide + point; await timed(() => at.tap()); },
    press: async (...keys) => { for (const one of keys) { walk.keys += one.length > 1 ? 1 : one.length; walk.person += key; await timed(() => page.keyboard.press(one)); } },
    write: async (text) => { walk.keys += text.length; walk.person += key * text.length; await page.keyboard.type(text); },
    // type points at a field and fills it. What is pasted takes two keys.
    type: async (at, text, pasted = false) => {
      walk.clicks++;
      walk.keys += pasted ? 2 : text.length;
      walk.person += decide + point + press + 2 * home + key * (pasted ? 2 : text.length);
      await at.click();
      await at.fill(text);
    },
    reload: async () => { walk.keys++; walk.person += decide + home + key; await timed(() => page.reload()); },
    go: async (address) => timed(() => page.goto(address)),
  };
}

// verified is the system of a customer: it answers 204 to an event that is signed with its secret, and 401 to others.
async function verified() {
  const got = [];
  let secretOf = '';
  const listener = createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const h = request.headers;
      const want = createHmac('sha256', Buffer.from(secretOf.replace('whsec_', ''), 'base64')).update(`${h['webhook-id']}.${h['webhook-timestamp']}.${Buffer.concat(parts)}`).digest();
      const right = (h['webhook-signature'] ?? '').split(' ').some((s) => { const is = Buffer.from(s.replace('v1,', ''), 'base64'); return is.length === want.length && timingSafeEqual(is, want); });
      got.push(right);
      response.writeHead(right ? 204 : 401).end();
    });
  });
  await new Promise((resolve) => { listener.listen(0, '127.0.0.1', resolve); });
  listener.unref(); // it keeps a walk that fails from its end
  return { got, set: (value) => { secretOf = value; }, address: `http://127.0.0.1:${listener.address().port}/events` };
}

// From the sign-in over the first key to a webhook whose test event was verified by the customer's system.
async function walkOfTheFirstAdmin(page) {
  const system = await verified();
  const { walk, click, type, reload, go } = hand(page);
  await go(given.base + '/settings');
  await click(page.getByRole('link', { name: 'Sign in' }));
  await type(page.getByLabel('E-mail'), 'owner@demo.example');
  await type(page.getByLabel('Password'), given.password);
  await click(page.getByRole('button', { name: 'Sign in' }));
  // Where others work already, there are no first steps.
  await page.getByRole('heading', { name: given.first ?? 'First steps' }).waitFor();
  await inspect(page, 'first steps', 'first-steps');

  const menu = page.getByRole('navigation').filter({ has: page.getByRole('link', { name: 'Audit log' }) }).first();
  await click(menu.getByRole('link', { name: 'API keys', exact: true }));
  await click(page.getByRole('link', { name: 'Create an API key' }));
  await type(page.getByLabel('Name'), 'CRM integration');
  await click(page.getByRole('button', { name: 'Create the key' }).last());
  const made = await secret(page);
  await click(page.getByRole('button', { name: 'Copy', exact: true }).first());
  const me = await fetch(given.base + '/v1/me', { headers: { Authorization: `Bearer ${made}` } });
  expect('a call with the new key', me.status, 200);

  await click(menu.getByRole('link', { name: 'Webhooks', exact: true }));
  await click(page.getByRole('link', { name: 'Add a webhook' }).first());
  await type(page.getByLabel('Address'), system.address, true);
  await click(page.getByLabel('content.*', { exact: true }));
  await click(page.getByRole('button', { name: 'Add the webhook' }));
  system.set(await secret(page));
  await click(page.getByRole('button', { name: 'Copy', exact: true }).first());
  await click(page.getByRole('link', { name: 'Done' }));
  await click(page.getByRole('button', { name: 'Send a test event' }));
  await page.getByText('A test event is on its way.').waitFor();
  for (let i = 0; !system.got.length && i < 240; i++) await page.waitForTimeout(250);
  await reload();
  for (let i = 0; !(await page.locator('tr', { hasText: 'HTTP 204' }).count()) && i < 240; i++) { await page.waitForTimeout(250); await page.reload(); }
  await page.locator('tr', { hasText: 'HTTP 204' }).getByText('delivered').waitFor();
  expect('the signatures that the system has verified', system.got.join(), 'true');
  await inspect(page, 'a verified webhook', 'webhook-verified');
  seen.walk = walk;
}

// An auditor reads everything that the account did, and finds nothing that changes it.
async function walkOfAnAuditor(page) {
  await signIn(page, 'auditor', '/settings');
  const changing = ['Create an API key', 'Add a webhook', 'Invite a person', 'Create a profile', 'Create an automation', 'Create a review link', 'Rotate', 'Revoke', 'Delete', 'Edit', 'Approve', 'Disconnect', 'Send a test event'];
  for (const path of given.read) {
    await page.goto(given.base + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    for (const name of changing) {
      const found = await page.locator('main').getByRole('link', { name, exact: true }).count() + await page.locator('main').getByRole('button', { name, exact: true }).count();
      if (found) wrong(`an auditor finds “${name}” at ${path}`);
    }
  }
  await page.goto(given.base + '/settings/audit-log');
  await page.getByText('You can read here.').waitFor();
  await everywhere(page, 'auditor');
  await page.getByRole('link', { name: '4xx' }).click();
  await page.getByLabel('Key', { exact: true }).selectOption({ label: 'Nightly import' });
  await page.getByRole('link', { name: /Key: Nightly import/ }).waitFor();
  await page.getByRole('link', { name: 'listFactories' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('insufficient_scope').waitFor();
  await dialog.getByText('Id of the request').first().waitFor();
  await inspect(page, 'a call for an auditor', 'auditor-call');
  await page.keyboard.press('Escape');
  await page.getByLabel('Factory', { exact: true }).selectOption({ label: 'Harbour' });
  await page.getByRole('link', { name: /Factory: Harbour/ }).waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download as CSV' }).click()]);
  expect('the file of the log', file.suggestedFilename(), 'audit-log.csv');
  await page.goto(given.base + '/settings/usage');
  const [usage] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download as CSV' }).click()]);
  expect('the file of the usage', usage.suggestedFilename(), 'usage.csv');
  // A form that an auditor was sent is refused, and says so.
  expected.push('403 (Forbidden)');
  await page.goto(given.base + '/settings/webhooks/new');
  await page.getByLabel('Address').fill('https://acme.example/');
  await page.getByLabel('content.*', { exact: true }).check();
  await page.getByRole('button', { name: 'Add the webhook' }).click();
  await page.getByRole('heading', { name: 'You may not do this' }).waitFor();
  expected.pop();
}

// A client decides about 16 posts on a phone: six with a note, ten approved, one of them by mistake.
async function walkOfAClient() {
  const context = await browser.newContext({ viewport: { width: 375, height: 760 }, isMobile: true, hasTouch: true, locale: 'en-GB' });
  const page = await open(context);
  const { walk, tap, go } = hand(page);
  await go(given.link);
  await page.getByText('0 of 16 decided').waitFor();
  await inspect(page, 'client on a phone', 'client-phone');
  const post = (id) => page.locator(`article[aria-labelledby="${id}-title"]`);
  const note = (id) => post(id).getByLabel('What is to be changed?');
  const top = (id) => post(id).evaluate((e) => Math.round(e.getBoundingClientRect().top));
  const stays = async (id, what) => { const at = await top(id); if (at < -40 || at > 700) wrong(`the post is at ${at} after ${what}`); };
  // The first six posts get notes before any of them is sent.
  const noted = given.posts.slice(0, 6);
  for (const id of noted) {
    await tap(post(id).getByText('Request changes', { exact: true }));
    await note(id).fill(`Note about ${id}`);
  }
  await inspect(page, 'client with notes', 'client-phone-notes');
  for (const [i, id] of noted.entries()) {
    await tap(post(id).getByRole('button', { name: 'Send the request' }));
    await post(id).getByText('changes requested').waitFor();
    await stays(id, 'a request');
    for (const other of noted.slice(i + 1)) expect('a note that waits', await note(other).inputValue(), `Note about ${other}`);
  }
  for (const id of given.posts.slice(6)) {
    await tap(post(id).getByRole('button', { name: 'Approve' }));
    await post(id).getByText('approved', { exact: true }).first().waitFor();
    await stays(id, 'an approval');
  }
  await page.getByText('16 of 16 decided').waitFor();
  await page.getByText('Thank you! Demo has your answers.').last().waitFor();
  await inspect(page, 'client who is done', 'client-phone-done');
  const last = given.posts.at(-1);
  await tap(post(last).getByRole('button', { name: /^Undo/ }));
  await page.getByText('15 of 16 decided').waitFor();
  await stays(last, 'the undo');
  await inspect(page, 'client after an undo', 'client-phone-undo');
  seen.walk = walk;
  await context.close();
}

// A developer goes from the first page to what the receiver has answered, and sends what it has missed once it works.
async function walkOfADeveloper(page) {
  await signIn(page, 'developer', '/settings');
  const { walk, click, go } = hand(page);
  await go(given.base + '/settings');
  await click(page.getByRole('link', { name: /^See the answer/ }).first());
  await page.getByText('the import is down').first().waitFor();
  await fetch(given.repair);
  await click(page.getByRole('button', { name: 'Send again' }).first());
  await page.getByText('The event is sent again.').waitFor();
  await go(given.base + given.hook);
  await click(page.getByRole('link', { name: 'Resend events' }));
  await click(page.getByRole('dialog').getByRole('button', { name: 'Resend' }));
  await page.getByText('are sent again').waitFor();
  seen.walk = walk;
}

// An agency approves 62 posts of eight clients.
async function walkOfAnAgency(page) {
  await signIn(page, 'owner', '/settings');
  const { walk, click } = hand(page);
  await click(page.getByRole('link', { name: /^Approvals/ }).first());
  const all = page.getByRole('button', { name: /^Approve all/ });
  await all.first().waitFor();
  while (await all.count()) {
    await click(all.first());
    await page.locator('.notice').waitFor();
  }
  await page.getByText('Posts that wait for a decision: 0').first().waitFor();
  seen.walk = walk;
}

// An auditor finds the calls that were refused, and takes them along.
async function walkOfRefusedCalls(page) {
  await signIn(page, 'auditor', '/settings');
  const { walk, click } = hand(page);
  await click(page.getByRole('link', { name: 'Audit log' }).first());
  await click(page.getByRole('link', { name: '4xx' }));
  await Promise.all([page.waitForEvent('download'), click(page.getByRole('link', { name: 'Download as CSV' }))]);
  seen.walk = walk;
}

// An owner has a client erased, and takes that back.
async function walkOfAnOwner(page) {
  await signIn(page, 'owner', given.client);
  const { walk, click, type } = hand(page);
  await click(page.getByRole('link', { name: 'Erase with all its data' }));
  await type(page.getByLabel(/^Type the name/), given.name, true);
  await click(page.getByRole('button', { name: 'Schedule the erasure' }));
  await page.getByText('The erasure is scheduled').waitFor();
  await click(page.getByRole('button', { name: 'Cancel the erasure' }).first());
  await page.getByText('The erasure is canceled').waitFor();
  seen.walk = walk;
}

// A person without a mouse goes to a client by name.
async function walkByKeys(page) {
  await signIn(page, 'owner', '/settings');
  const { walk, press, write } = hand(page);
  await press('Control+k');
  await write('peak');
  await page.getByRole('option', { name: /Peak Cycles/ }).first().waitFor();
  await press('ArrowDown', 'Enter');
  await page.getByRole('heading', { level: 1, name: /Peak Cycles/ }).waitFor();
  seen.walk = walk;
}

// walkOfSeven walks all persons, each in a browser of their own.
async function walkOfSeven() {
  seen.walks = {};
  for (const [person, walked] of Object.entries({ 'First admin': walkOfTheFirstAdmin, Developer: walkOfADeveloper, Agency: walkOfAnAgency,
    Client: walkOfAClient, Auditor: walkOfRefusedCalls, Owner: walkOfAnOwner, Keyboard: walkByKeys })) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await open(context);
    try {
      await walked(page);
      seen.walks[person] = seen.walk;
    } catch (e) {
      wrong(`${person} at ${page.url()}: ${e.message}`);
      await page.screenshot({ path: `${given.pictures}/failed-${person}.png` });
    }
    await context.close();
    await fetch(given.advance);
  }
}

const walks = { walkOfTheFirstAdmin, walkOfAnAuditor, walkOfAClient, walkOfSeven };
const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write'] });
const page = await open(context);
try {
  await walks[given.walk](page);
} catch (e) {
  wrong(`${page.url()}: ${e.message}`);
  await page.screenshot({ path: `${given.pictures}/failed.png` });
} finally {
  await finish();
}
