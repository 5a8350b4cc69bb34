// Opens dialogs on a connection that is dead, and on one that is slow, as people on a train do.
import { browser, expect, expected, finish, given, inspect, open, signIn, wrong } from './tools.mjs';

const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
const page = await open(context);
try {
  await signIn(page, 'owner');
  for (const [path, name] of [['/settings/api-keys', 'Rotate: CRM'], ['/settings/api-keys', 'Revoke: CRM'], ['/settings/people', 'Invite a person']]) {
    await page.goto(given.base + path);
    const link = page.getByRole('link', { name });
    const to = new URL(await link.getAttribute('href'), given.base).href;
    expected.push('ERR_INTERNET_DISCONNECTED');
    await context.setOffline(true);
    // The browser's own page says what is wrong, at the address of the form, so that a reload goes on.
    const failed = page.waitForEvent('requestfailed', (r) => r.isNavigationRequest());
    await link.click();
    expect('the form that is asked for', (await failed).url(), to);
    await page.waitForTimeout(500); // the browser has shown its page
    await context.setOffline(false);
    await page.goto(to);
    await page.getByRole('heading', { name: /Rotate the key|Revoke the key|Invite a person/ }).waitFor();
    expected.splice(0);
  }

  // A form is not sent, says so, and stays as it was typed. It goes when the connection is back.
  await page.goto(given.base + '/settings/api-keys/new');
  await page.getByLabel('Name').fill('Typed on a train');
  await context.setOffline(true);
  await page.getByRole('button', { name: 'Create the key' }).last().click();
  await page.getByRole('alert').getByText('There is no connection. Nothing was sent').waitFor();
  expect('the page of a form without a connection', page.url(), given.base + '/settings/api-keys/new');
  expect('what was typed without a connection', await page.getByLabel('Name').inputValue(), 'Typed on a train');
  await inspect(page, 'offline', 'offline');
  await context.setOffline(false);
  await page.getByText('There is no connection.').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Create the key' }).last().click();
  await page.getByRole('heading', { name: 'Your new API key' }).waitFor();

  // The session ends while a form is open: it is kept, and goes on after the sign-in. The provider knows the browser.
  await page.goto(given.base + '/settings/webhooks/new');
  await page.getByLabel('Address').fill('https://example.com/hook');
  await page.getByLabel('content.*', { exact: true }).check();
  await context.clearCookies({ name: '__Host-session' });
  await page.getByRole('button', { name: 'Add the webhook' }).click();
  await page.getByText('What you have typed is kept').waitFor();
  await inspect(page, 'ended session', 'ended-session');
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByText('https://example.com/hook').waitFor();
  await inspect(page, 'kept form', 'kept-form');

  // On a slow connection, the link shows that it was taken.
  await page.goto(given.base + '/settings/api-keys');
  let go;
  const held = new Promise((resolve) => { go = resolve; });
  await page.route('**/rotate?dialog=*', async (route) => { await held; await route.continue(); });
  const link = page.getByRole('link', { name: 'Rotate: CRM' });
  await link.click();
  await page.waitForFunction(() => document.querySelector('a[aria-busy]'));
  const shown = await link.evaluate((e) => [getComputedStyle(e).cursor, Number(getComputedStyle(e).opacity) < 1].join());
  expect('a link that waits', shown, 'progress,true');
  go();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).waitFor();
} catch (e) {
  wrong(`${page.url()}: ${e.message}`);
} finally {
  await finish();
}
