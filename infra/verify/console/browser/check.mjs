// Uses the account area in a real Chromium, as the people of an account do, and prints what happened as JSON.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { browser, everyPage, everywhere, expect, expected, finish, given, inspect, open, others, secret, signIn, status, weigh, wrong } from './tools.mjs';

// A key: made with a preset, used, rotated in the dialog, revoked.
async function journeyOfAKey(page) {
  await page.goto(given.base + '/settings/api-keys');
  await page.getByRole('link', { name: 'Create an API key' }).click();
  await page.getByLabel('Name').fill('Journey');
  await page.locator('summary', { hasText: /^More/ }).click();
  await page.getByRole('button', { name: 'Read only' }).click();
  expect('the preset stays on the page', new URL(page.url()).search, '');
  const publishing = page.getByRole('group', { name: 'Publishing' });
  expect('the preset publishes nothing', await publishing.getByRole('radio', { name: 'No access' }).isChecked(), true);
  expect('the preset reads content', await page.getByRole('group', { name: 'Content' }).getByRole('radio', { name: 'Read' }).isChecked(), true);
  await everywhere(page, 'new key');
  await publishing.scrollIntoViewIfNeeded();
  await inspect(page, 'scopes', 'scopes');
  await page.setViewportSize({ width: 375, height: 860 });
  await publishing.scrollIntoViewIfNeeded();
  await inspect(page, 'scopes on a phone', 'scopes-phone');
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.getByRole('button', { name: 'Create the key' }).click();
  const first = await secret(page);
  await everywhere(page, 'secret');
  expect('the new key', await status(first), 200);

  // Its scopes are changed: the changes are listed, then saved.
  await page.goto(given.base + '/settings/api-keys');
  await page.getByRole('link', { name: 'Journey', exact: true }).click();
  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  await page.getByRole('group', { name: 'Content' }).getByRole('radio', { name: /^Write/ }).check();
  await page.getByLabel('Spending limit').fill('500');
  await page.getByRole('button', { name: 'Review the changes' }).last().click();
  await page.getByText('Adds the scope content:write').waitFor();
  await everywhere(page, 'key changes');
  await page.getByRole('button', { name: 'Save the changes' }).click();
  await page.getByText('The key is changed.').waitFor();
  await everywhere(page, 'key edited');

  await page.goto(given.base + '/settings/api-keys');
  await page.getByRole('link', { name: 'Rotate: Journey' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Now').check();
  await everywhere(page, 'rotate');
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await page.waitForURL('**/rotate');
  const second = await secret(page);
  expect('the earlier secret', await status(first), 401);
  expect('the new secret', await status(second), 200);

  await page.goto(given.base + '/settings/api-keys');
  await page.getByRole('link', { name: 'Revoke: Journey' }).click();
  await everywhere(page, 'revoke');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('link', { name: 'Journey', exact: true }).click();
  await page.getByRole('link', { name: 'Report a leak' }).click();
  await dialog.getByRole('button', { name: 'Revoke the key and those made with it' }).waitFor();
  await everywhere(page, 'leak');
  await page.keyboard.press('Escape');
  await page.goto(given.base + '/settings/api-keys');
  await page.getByRole('link', { name: 'Revoke: Journey' }).click();
  await dialog.getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('The key is revoked.').waitFor();
  expect('the revoked key', await status(second), 401);
}

async function journeyOfAWebhook(page) {
  await page.goto(given.base + '/settings/webhooks');
  await page.getByRole('link', { name: 'Add a webhook' }).click();
  await page.getByLabel('Address').fill(given.receiver);
  await page.getByLabel('content.*', { exact: true }).check();
  await page.getByRole('button', { name: 'Add the webhook' }).click();
  if (!(await secret(page)).startsWith('whsec_')) wrong('the webhook shows no signing secret');
  await page.getByRole('link', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Send a test event' }).click();
  await page.getByText('A test event is on its way.').waitFor();
  const dialog = page.getByRole('dialog');
  const delivered = page.locator('tr', { hasText: 'delivered' }).first().getByRole('link');
  for (let i = 0; i < 40 && !(await delivered.count()); i++) { await page.waitForTimeout(250); await page.reload(); }
  await inspect(page, 'webhook', 'webhook');
  await delivered.click();
  await dialog.getByText('Repeat it with curl').waitFor();
  await everywhere(page, 'delivery');
  await dialog.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('The event is sent again.').waitFor();

  await page.getByRole('link', { name: 'Rotate the secret' }).click();
  await dialog.getByRole('button', { name: 'Rotate the secret' }).waitFor();
  await everywhere(page, 'webhook rotate');
  await dialog.getByRole('button', { name: 'Rotate the secret' }).click();
  if (!(await secret(page)).startsWith('whsec_')) wrong('the rotation shows no signing secret');
  await everywhere(page, 'webhook secret');
  await page.getByRole('link', { name: 'Done' }).click();
  await page.getByRole('link', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).waitFor();
  await everywhere(page, 'webhook delete');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL('**/settings/webhooks?*');
}

// A webhook fails: its delivery says why, its address is repaired, and what it has missed is sent.
async function journeyOfARepair(page) {
  await page.goto(given.base + '/settings/webhooks/new');
  await page.getByLabel('Address').fill(given.broken + '-wrong');
  await page.getByLabel('content.*', { exact: true }).check();
  await page.getByRole('button', { name: 'Add the webhook' }).click();
  await page.getByRole('link', { name: 'Done' }).click();
  await page.waitForURL('**/settings/webhooks/whk_*');
  const hook = page.url();
  // Something happens: a post is ready. A test event would not be replayed.
  const made = await fetch(given.base + '/v1/content-items', { method: 'POST', headers: { Authorization: `Bearer ${given.key}`, 'Content-Type': 'application/json' }, body: JSON.stringify(given.post) });
  expect('a post', made.status, 202);
  const failed = page.locator('tr', { hasText: 'HTTP 502' }).first().getByRole('link');
  for (let i = 0; i < 60 && !(await failed.count()); i++) { await page.waitForTimeout(250); await page.goto(hook); }
  await failed.click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('the import is down').first().waitFor();
  await dialog.getByText('webhook-signature').first().waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  // On a phone, the same is a page.
  await page.setViewportSize({ width: 375, height: 760 });
  await failed.click();
  await page.waitForURL('**/deliveries/*');
  await inspect(page, 'delivery on a phone', 'delivery-phone');
  await page.setViewportSize({ width: 1280, height: 860 });

  await page.goto(given.base + '/settings');
  await page.getByRole('link', { name: /^See the answer/ }).first().click();
  await page.goto(hook);
  await page.getByRole('link', { name: 'Edit', exact: true }).click();
  await page.getByLabel('Address').fill(given.broken);
  await everywhere(page, 'webhook edit');
  await page.getByRole('button', { name: 'Review the changes' }).click();
  await page.getByText('Deliveries that wait are sent to the new address at once.').waitFor();
  await fetch(given.repair);
  await page.getByRole('button', { name: 'Save the changes' }).click();
  await page.getByText('The webhook is changed.').waitFor();
  await page.getByRole('link', { name: 'Resend events' }).click();
  await dialog.getByRole('button', { name: 'Resend' }).waitFor();
  await everywhere(page, 'replay');
  await dialog.getByRole('button', { name: 'Resend' }).click();
  await page.getByText('are sent again').waitFor();
  const arrived = page.locator('tr', { hasText: 'HTTP 200' });
  for (let i = 0; i < 60 && !(await arrived.count()); i++) { await page.waitForTimeout(250); await page.goto(hook); }
  expect('deliveries that arrived', await arrived.count() > 0, true);
}

// The log of calls by name, with the detail of one in a panel.
async function journeyOfACall(page) {
  await page.goto(given.base + '/settings/audit-log');
  await page.getByLabel('Key', { exact: true }).selectOption({ label: 'Nightly import' });
  await page.getByRole('link', { name: /Key: Nightly import/ }).waitFor();
  await page.getByRole('link', { name: 'Last hour' }).waitFor();
  await everywhere(page, 'calls of a key');
  await page.getByRole('link', { name: 'listFactories' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Id of the request').first().waitFor();
  await everywhere(page, 'call');
  await dialog.getByRole('button', { name: /^Copy: Id of the request/ }).click();
  await dialog.getByText('Copied').waitFor();
  await page.keyboard.press('Escape');
  await page.goto(given.base + '/settings/events');
  await page.getByRole('link', { name: /^content/ }).first().click();
  await dialog.getByRole('heading', { name: 'Deliveries' }).waitFor();
  await everywhere(page, 'event');
  await page.keyboard.press('Escape');
}

// The month with its forecast, and the calls by their outcome.
async function journeyOfUsage(page) {
  await page.goto(given.base + '/settings/usage');
  await page.getByRole('navigation', { name: 'Split by', exact: true }).getByRole('link', { name: 'Key' }).click();
  await page.getByRole('navigation', { name: 'Split requests by' }).getByRole('link', { name: 'Outcome' }).click();
  await page.getByRole('heading', { name: 'This month', exact: true }).scrollIntoViewIfNeeded();
  await page.locator('summary', { hasText: 'Show as a table' }).last().click();
  await inspect(page, 'usage of the month', 'usage-month');
}

async function journeyOfAPerson(page) {
  await page.goto(given.base + '/settings/people');
  await page.getByRole('link', { name: 'Invite a person' }).click();
  await page.getByLabel('E-mail').fill('ada@demo.example');
  await page.getByRole('radio', { name: /^developer/ }).check();
  await everywhere(page, 'invite');
  await page.getByRole('button', { name: 'Invite', exact: true }).click();
  if (!(await page.locator('#secret').textContent()).includes('/auth/invitations#')) wrong('the invitation shows no link');
  await page.getByRole('link', { name: 'Done' }).click();
  await page.getByRole('link', { name: 'Remove: ada@demo.example' }).click();
  await everywhere(page, 'remove');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('The person is removed.').waitFor();
}

// An owner has the account erased, which takes its name, and cancels that.
async function journeyOfAnErasure(page) {
  await page.goto(given.base + '/settings/erasure');
  await everywhere(page, 'erasure none');
  await page.getByRole('link', { name: 'Erase the account' }).click();
  await page.getByLabel('Type the name to go on').fill('Dem');
  expected.push('422 (Unprocessable Entity)');
  await page.getByRole('button', { name: 'Schedule the erasure' }).click();
  await page.locator('#typed-error', { hasText: 'as it is shown above' }).waitFor();
  expected.pop();
  await everywhere(page, 'erasure ask');
  await page.getByLabel('Type the name to go on').fill('Demo');
  await page.getByRole('button', { name: 'Schedule the erasure' }).click();
  await page.getByText('The erasure is scheduled').waitFor();
  await everywhere(page, 'erasure');
  await page.getByRole('button', { name: 'Cancel the erasure' }).click();
  await page.getByText('The erasure is canceled').waitFor();
}

// The IT of a customer opens a set-up link without an account.
async function journeyOfASetUpLink(page) {
  await page.goto(given.base + '/settings/sign-on');
  await page.getByLabel('Name').fill('Okta');
  await page.getByRole('button', { name: 'Add the provider' }).click();
  await page.getByLabel('E-mail domain').fill('acme.example');
  await page.getByRole('button', { name: 'Add the domain' }).click();
  await page.getByText('not verified').waitFor();
  await everywhere(page, 'connection');
  await page.getByRole('button', { name: 'Make a set-up link' }).click();
  const link = await secret(page);
  await everywhere(page, 'set-up link');
  const visitor = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const it = await open(visitor);
  await it.goto(given.base + '/setup');
  await everywhere(it, 'set-up open');
  await it.goto(link);
  await it.getByRole('heading', { name: 'At your provider' }).waitFor();
  expect('the address of the set-up', it.url(), given.base + '/setup');
  await everywhere(it, 'set-up');
  await visitor.close();
}

// connect makes a connection as the owner, and gives its provider as the IT of the customer, who has no account. It
// returns the connection's name at the pool.
async function connect(page, name, domain, give) {
  await page.goto(given.base + '/settings/sign-on');
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Role of new people').selectOption('auditor');
  await page.getByRole('button', { name: 'Add the provider' }).click();
  const card = page.locator('section.card', { hasText: name });
  await card.getByLabel('E-mail domain').fill(domain);
  await card.getByRole('button', { name: 'Add the domain' }).click();
  const [record, text] = await card.locator('code').allInnerTexts();
  await fetch(`${given.records}?${new URLSearchParams({ name: record, text })}`);
  await card.getByRole('button', { name: `Verify: ${domain}` }).click();
  await card.getByText('verified', { exact: true }).waitFor();
  await card.getByLabel('Roles of groups').fill('api-admins = admin');
  await card.getByRole('button', { name: 'Save the roles' }).click();
  const id = /con_(\w+)\/setup/.exec(await card.locator('form[action$="/setup"]').getAttribute('action'))[1];
  await card.getByRole('button', { name: 'Make a set-up link' }).click();
  const link = await secret(page);
  const visitor = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const it = await open(visitor);
  await it.goto(link);
  await it.getByRole('heading', { name: 'At your provider' }).waitFor();
  await give(it);
  await it.getByRole('heading', { name: 'The provider is set up' }).waitFor();
  await everywhere(it, 'set-up done');
  await visitor.close();
  return id;
}

// come signs a person in by a provider, whose own pages are not the account area's to check.
async function come(id, name, sign) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ignoreHTTPSErrors: true });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(given.base + '/settings/api-keys');
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: `Sign in with ${id}` }).click();
  await sign(page);
  await page.getByRole('heading', { level: 1, name }).waitFor();
  return { context, page };
}

async function journeyOfFederation(page) {
  const oidc = await connect(page, 'Acme by OpenID Connect', 'oidc.example', async (it) => {
    await it.getByLabel('Issuer').fill(given.issuer);
    await it.getByLabel('Client ID').fill(given.client);
    await it.getByLabel('Client secret').fill(given.secret);
    await it.getByRole('button', { name: 'Use OpenID Connect' }).click();
  });
  const saml = await connect(page, 'Acme by SAML', 'saml.example', async (it) => {
    await it.getByLabel('Or the metadata itself').fill(given.metadata);
    await it.getByRole('button', { name: 'Use SAML' }).click();
  });
  const byOIDC = (email) => async (at) => {
    await at.locator('input[name="login"]').fill(email);
    await at.locator('input[name="password"]').fill('any');
    await at.locator('button[type="submit"]').click();
    await at.getByRole('button', { name: 'Continue' }).click();
  };
  const bySAML = (email) => async (at) => {
    await at.getByLabel('Address').fill(email);
    await at.getByRole('button', { name: 'Go on' }).click();
  };
  for (const [id, sign] of [[oidc, byOIDC('bob@oidc.example')], [saml, bySAML('ada@saml.example')]]) {
    const { context, page: at } = await come(id, 'API keys', sign);
    await at.goto(given.base + '/settings/profile');
    if (!/ · admin/.test(await at.locator('main').innerText())) wrong(`the role of the group is not that of ${id}`);
    await context.close();
  }
  for (const [id, sign] of [[oidc, byOIDC('eve@other.example')], [saml, bySAML('eve@oidc.example')]]) {
    const { context, page: at } = await come(id, 'Sign in', sign);
    await at.getByRole('alert').getByText('Your e-mail address is not verified.').waitFor();
    if ((await context.cookies()).some((c) => c.name === '__Host-session')) wrong(`a stranger has a session by ${id}`);
    await context.close();
  }
}

// After 15 minutes, changes need another sign-in.
async function journeyOfAStepUp(page) {
  await fetch(given.advance);
  expected.push('403 (Forbidden)');
  await page.goto(given.base + '/settings/api-keys/new');
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  await everywhere(page, 'step-up');
  expected.pop();
  await page.getByRole('link', { name: 'Sign in again' }).click();
  await page.getByLabel('E-mail').fill('owner@demo.example');
  await page.getByLabel('Password').fill(given.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Create an API key' }).waitFor();
}

// The explorer gets a key of its own, and its page cannot use the session.
async function journeyOfTheExplorer(page) {
  await page.goto(given.base + '/settings/api-keys');
  await page.getByRole('button', { name: 'Open the explorer' }).click();
  // Its script takes long to load on a busy machine. The key is there as soon as the page has read its address.
  await page.waitForURL('**/api-docs/explorer', { waitUntil: 'commit' });
  await page.waitForFunction(() => sessionStorage.getItem('api-key')?.startsWith('svc_test_') && !location.hash.includes('key='));
  const key = await page.evaluate(() => sessionStorage.getItem('api-key'));
  expect("the explorer's key", await status(key), 200);
  expected.push('403 (Forbidden)');
  const got = await page.evaluate(async () => {
    const page = await fetch('/settings/api-keys'), form = await fetch('/settings/mode', { method: 'POST', body: new URLSearchParams({ mode: 'test' }) });
    const dialog = await fetch('/settings/people/invite', { headers: { 'X-Part': 'true' } });
    const other = window.open('/settings/api-keys');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    let reached = 'nothing';
    try { reached = other && !other.closed ? other.document.title : 'nothing'; } catch { /* not reachable */ }
    return { page: page.status, form: form.status, dialog: dialog.status, reached };
  });
  expect('what the explorer can read', JSON.stringify(got), JSON.stringify({ page: 403, form: 403, dialog: 403, reached: 'nothing' }));

  // A script of the explorer can send a form as a navigation. Neither that nor any answer that it can read has a token.
  expected.push('404 (Not Found)', 'Framing ');
  const found = await page.evaluate(async () => {
    const texts = await Promise.all(['/settings/api-keys', '/settings/nothing', '/auth/sign-in'].map(async (path) => (await fetch(path)).text()));
    const frame = document.createElement('iframe');
    frame.src = '/settings/people';
    document.body.append(frame);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    texts.push(frame.contentDocument?.documentElement.outerHTML ?? '');
    return texts.filter((text) => /name="token"|dialog=/.test(text)).length;
  });
  expect('answers with a token', found, 0);
  // The policy of the explorer refuses forms. Other pages of the origin, which a script can open, may not: so this
  // browser ignores all policies, and only the token is left.
  const lax = await browser.newContext({ storageState: await page.context().storageState(), bypassCSP: true });
  const hostile = await open(lax);
  for (const [path, fields] of [['/settings/people', { email: 'eve@demo.example', role: 'owner' }], ['/settings/mode', { mode: 'test' }], ['/auth/sign-out', {}]]) {
    await hostile.goto(given.base + '/api-docs/explorer', { waitUntil: 'domcontentloaded' });
    const sent = hostile.waitForResponse((r) => r.url() === given.base + path && r.request().method() === 'POST');
    const submitted = hostile.evaluate(({ path, fields }) => {
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', action: path });
      for (const [name, value] of Object.entries(fields)) form.append(Object.assign(document.createElement('input'), { name, value }));
      document.body.append(form);
      setTimeout(() => form.submit()); // a navigation would take the answer of this call away
    }, { path, fields });
    const [answer] = await Promise.all([sent, submitted]);
    expect(`the explorer's form for ${path}`, answer.status(), 403);
    await hostile.waitForURL(`**${path}`);
  }
  await lax.close();
  expected.splice(0);
  await page.goto(given.base + '/settings/people');
  if (/eve@demo.example|Sandbox:/.test(await page.locator('main').innerText() + await page.locator('body').innerText())) wrong("the explorer's form had an effect");
  return key;
}

// The command line signs in: the page leads the browser back to it with a code, which works with the verifier.
async function journeyOfTheCommandLine(page) {
  let came;
  const back = new Promise((resolve) => { came = resolve; });
  const listener = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<link rel="icon" href="data:,">');
    came(new URL(request.url, 'http://127.0.0.1'));
  });
  await new Promise((resolve) => { listener.listen(0, '127.0.0.1', resolve); });
  others.push(`http://127.0.0.1:${listener.address().port}`);
  const verifier = 'v'.repeat(43), state = 's'.repeat(43);
  const q = new URLSearchParams({ port: listener.address().port, challenge: createHash('sha256').update(verifier).digest('base64url'), state, name: 'laptop' });
  await page.goto(`${given.base}/settings/cli?${q}`);
  await inspect(page, 'command line', 'command-line');
  await page.getByLabel('Scopes').selectOption({ label: 'Read only' });
  await page.getByRole('button', { name: 'Create the key' }).click();
  const { pathname, searchParams } = await back;
  await page.waitForURL(/^http:\/\/127\.0\.0\.1:/); // another navigation would interrupt this one
  expect('the path of the callback', pathname, '/callback');
  expect('the state of the callback', searchParams.get('state'), state);
  const answer = await fetch(`${given.base}/auth/cli/token`, { method: 'POST', body: new URLSearchParams({ code: searchParams.get('code'), code_verifier: verifier }) });
  expect('the key of the command line', await status((await answer.json()).access_token), 200);
  await page.goto(`${given.base}/settings/api-keys`);
  listener.close();
  listener.closeAllConnections();
}

// In Russian, with the menu of a phone.
async function journeyOfTheLanguage(page) {
  await page.setViewportSize({ width: 375, height: 760 });
  await page.goto(given.base + '/settings/api-keys');
  await page.locator('summary', { hasText: 'Menu' }).click();
  await inspect(page, 'menu', 'menu-375');
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.goto(given.base + '/settings/api-keys');
  await page.locator('header summary', { hasText: 'owner' }).click();
  await page.getByRole('button', { name: 'Русский' }).click();
  await page.getByRole('heading', { name: 'Ключи API' }).waitFor();
  await inspect(page, 'Russian', 'russian');
  await page.locator('header summary', { hasText: 'owner' }).click();
  await page.getByRole('button', { name: 'English' }).click();
}

// Sign-out ends the explorer's key too: the back button shows nothing, and neither does another tab.
async function journeyOfTheEnd(page) {
  const key = await journeyOfTheExplorer(page);
  const other = await open(context);
  await other.goto(given.base + '/settings/people');
  await page.goto(given.base + '/settings/api-keys');
  await page.locator('header summary', { hasText: 'owner' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL('**/auth/signed-out');
  await inspect(page, 'signed out', 'signed-out');
  await page.goBack();
  await page.waitForTimeout(500);
  if (/Create an API key/.test(await page.locator('body').innerText())) wrong('the back button shows the keys');
  await other.reload();
  if (!other.url().includes('/auth/sign-in')) wrong(`the other tab is at ${other.url()}`);
  expect("the explorer's key after sign-out", await status(key), 401);
  await page.goto(given.base + '/settings/api-keys');
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByLabel('Password').waitFor(); // the provider has forgotten the browser too

  // A browser that keeps no cookies is told so.
  expected.push('400 (Bad Request)');
  await page.getByLabel('E-mail').fill('owner@demo.example');
  await page.getByLabel('Password').fill(given.password);
  await context.clearCookies();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('It may block cookies').waitFor();
  await inspect(page, 'no cookies');
  expected.pop();
}

const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, permissions: ['clipboard-read', 'clipboard-write'] });
const page = await open(context);
try {
  await page.goto(given.base + '/settings/api-keys');
  await inspect(page, 'sign-in', 'sign-in');
  await signIn(page, 'owner');
  const cookies = (await context.cookies()).filter((c) => c.name === '__Host-session');
  if (cookies.length !== 1 || !cookies[0].secure || !cookies[0].httpOnly || cookies[0].sameSite !== 'Lax') wrong(`the cookie is ${JSON.stringify(cookies)}`);
  const pages = async () => { await everyPage(page); await weigh(context); };
  const journeys = { journeyOfAKey, journeyOfAWebhook, journeyOfARepair, journeyOfACall, journeyOfUsage, journeyOfAPerson, journeyOfAnErasure, journeyOfTheCommandLine, journeyOfASetUpLink, journeyOfAStepUp, journeyOfFederation, pages, journeyOfTheLanguage, journeyOfTheEnd };
  for (const [name, journey] of Object.entries(journeys)) if (!given.only || name.includes(given.only)) await journey(page);
} catch (e) {
  wrong(`${page.url()}: ${e.message}`);
  await page.screenshot({ path: `${given.pictures}/failed.png` });
} finally {
  await finish();
}
