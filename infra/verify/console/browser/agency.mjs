// An agency clears its approvals, moves a post, and finds what it looks for, by clicks and by keys.
import { browser, everyPage, everywhere, expect, finish, given, inspect, open, others, signIn, weigh, wrong } from './tools.mjs';

others.push(given.media);
const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, timezoneId: given.zone });
const page = await open(context);
const waits = async () => Number(/decision: (\d+)/.exec(await page.locator('main').innerText())[1]);

// All posts are approved: a click opens the queue, and one more is for each client.
async function journeyOfTheApprovals() {
  let clicks = 1;
  await page.getByRole('link', { name: /^Approvals/ }).click();
  await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
  expect('the posts that wait', await waits(), given.posts);
  await inspect(page, 'approvals', 'agency-approvals');
  // The keys: the first is approved by A, the second is chosen by X and taken back by Undo.
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await page.getByText('The item is approved.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Taken back: 1.').waitFor();
  expect('the posts after the undo', await waits(), given.posts);
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  expect('the chosen posts', await page.locator('[data-chosen]').innerText(), '2');
  await inspect(page, 'chosen posts', 'agency-chosen');
  await page.keyboard.press('n');
  expect('the focus after N', await page.evaluate(() => document.activeElement.name), 'note');
  await page.goto(given.base + '/settings/approvals');
  while (await page.getByRole('button', { name: /^Approve all/ }).count()) {
    await page.getByRole('button', { name: /^Approve all/ }).first().click();
    await page.locator('.notice').waitFor();
    clicks++;
  }
  expect('the posts that wait at the end', await waits(), 0);
  if (clicks > 10) wrong(`${clicks} clicks for ${given.posts} posts`);
}

// A post is moved to the next day by the keyboard.
async function journeyOfTheCalendar() {
  await page.goto(`${given.base}/settings/calendar?view=week&date=${given.day}`);
  expect('the zone of the browser', await page.getByLabel('Time zone').inputValue(), 'Europe/Berlin');
  const cell = (day) => page.locator(`.calendar > li[data-date="${day}"] [data-item="${given.planned}"]`);
  await cell(given.day).getByRole('link').first().focus();
  await page.keyboard.press('Alt+ArrowRight');
  await cell(given.next).waitFor();
  await cell(given.next).dragTo(page.locator(`.calendar > li[data-date="${given.day}"]`));
  await cell(given.day).waitFor();
  await everywhere(page, 'agency calendar');
  await cell(given.day).getByRole('link', { name: /^Do not publish/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Do not publish' }).waitFor();
  await everywhere(page, 'agency cancel');
  await page.keyboard.press('Escape');
}

async function journeyOfTheSearch() {
  await page.goto(given.base + '/settings');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('client 3');
  await page.getByRole('option', { name: 'Client 3' }).first().waitFor();
  await inspect(page, 'search', 'agency-search');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Client 3' }).waitFor();
}

try {
  await signIn(page, 'owner', '/settings');
  await page.getByText('Times are in Europe/Berlin.').waitFor();
  // A minute passes between the journeys: the calls of a minute are limited.
  for (const journey of [() => everyPage(page), () => weigh(context), journeyOfTheCalendar, journeyOfTheSearch, journeyOfTheApprovals]) { await journey(); await fetch(given.advance); }
  // The sandbox has its bar, which stands in a landmark.
  await page.getByRole('button', { name: 'Sandbox' }).click();
  for (const path of given.pages.filter((one) => !one.includes('/cnt_'))) { await page.goto(given.base + path); await inspect(page, `sandbox ${path}`); }
  await inspect(page, 'sandbox', 'agency-sandbox');
} catch (e) {
  wrong(`${page.url()}: ${e.message}`);
  await page.screenshot({ path: `${given.pictures}/failed.png` });
} finally {
  await finish();
}
