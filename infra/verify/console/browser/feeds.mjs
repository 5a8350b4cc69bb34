// Sets and reads the feed of a shop, and follows what it changes, in a real Chromium.
import { browser, everyPage, everywhere, expect, finish, given, inspect, open, signIn, weigh, wrong } from './tools.mjs';

const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, acceptDownloads: true });
const page = await open(context);
const call = async (method, path, body) => {
  const answer = await fetch(given.base + path, { method, body: body && JSON.stringify(body), headers: { Authorization: `Bearer ${given.key}`, 'Content-Type': 'application/json' } });
  return (await answer.json()).data;
};
const until = async (what, is) => {
  for (let n = 0; n < 300; n++) {
    if (await is()) return;
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  wrong(`${what}: too late`);
};
const state = () => page.locator('#last-run .state');

// The run is followed by the page itself.
async function sync(end) {
  await page.goto(given.base + given.feed);
  await page.getByRole('button', { name: 'Sync now' }).click();
  await page.getByText('The feed is being read.').waitFor();
  await until('the page shows the end', async () => (await state().textContent()) === end);
}

async function journeyOfANewFeed() {
  await page.goto(given.base + given.second);
  await page.getByLabel('Address of the feed').fill(given.url);
  await page.getByLabel('Format').selectOption('csv');
  await page.getByLabel('Columns of a CSV').fill('price = Preis');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The feed is set.').waitFor();
  await page.getByRole('button', { name: 'Sync now' }).click();
  await until('the page shows the end', async () => (await state().textContent()) === 'completed');
  await everywhere(page, 'feed read');
  await page.setViewportSize({ width: 390, height: 844 });
  await inspect(page, 'feed on a phone', 'feed-phone');
  await page.setViewportSize({ width: 1280, height: 860 });
}

async function journeyOfRefusals() {
  await page.goto(given.base + given.feed);
  await page.locator('#last-run a', { hasText: /20\d\d/ }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Run of a feed' }).waitFor();
  expect('the refusals of a page', await page.locator('main tbody tr').count(), 40);
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'All as CSV' }).click()]);
  const rows = [];
  for await (const part of await file.createReadStream()) rows.push(part);
  expect('the lines of the file', Buffer.concat(rows).toString().trim().split('\n').length, 41);
}

async function journeyOfAPost() {
  const item = await call('POST', '/v1/content-items', { factory_id: given.factory, kind: 'post', product_id: given.product, prompt: 'Show it with its price', social_account_ids: [given.account], publish_at: new Date(Date.now() + 2 * 864e5).toISOString() });
  const waits = async () => (await call('GET', `/v1/content-items/${item.id}`)).waits_for;
  await until('the schedule', async () => (await waits()) === 'time');
  await fetch(given.shop + '/moved', { method: 'POST' });
  await sync('completed');
  await until('the hold', async () => (await waits()) === 'product');
  await page.goto(`${given.base}${given.feed}/products`);
  await page.getByLabel('Number of the product').fill('S-1');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('link', { name: /^Shoe 1/ }).click();
  await page.getByRole('heading', { name: 'What the feed has changed' }).waitFor();
  expect('the changes of the row', await page.locator('main tbody tr').count(), 2);
  await everywhere(page, 'feed product with a post');
  await page.getByRole('link', { name: /^Make it again/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('It costs').waitFor();
  await everywhere(page, 'feed make again');
  await dialog.getByRole('button', { name: 'Make it again' }).click();
  await page.getByText('The post is being made again.').waitFor();
  await until('the post is planned again', async () => (await waits()) === 'time');
}

async function journeyOfARemoval() {
  await fetch(given.shop + '/emptied', { method: 'POST' });
  await sync('held');
  await everywhere(page, 'feed held');
  await page.getByRole('link', { name: 'Archive them' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Products that are archived: 75.').waitFor();
  await inspect(page, 'feed archive', 'feed-archive');
  await dialog.getByRole('button', { name: 'Archive them' }).click();
  await page.getByText('The run goes on').waitFor();
  await until('the page shows the end', async () => (await state().textContent()) === 'completed');
  await page.getByRole('link', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The feed is deleted.').waitFor();
}

try {
  await signIn(page, 'owner');
  if (!given.only || given.only === 'pages') { await everyPage(page); await weigh(context); }
  const journeys = { journeyOfANewFeed, journeyOfRefusals, journeyOfAPost, journeyOfARemoval };
  for (const [name, journey] of Object.entries(journeys)) if (!given.only || name.includes(given.only)) await journey();
} catch (e) {
  wrong(`${page.url()}: ${e.message}`);
  await page.screenshot({ path: `${given.pictures}/failed.png` });
} finally {
  await finish();
}
