// Uses the pages of publishing in a real Chromium: as the people of an account, and as those who get a review link.
import { browser, everyPage, everywhere, expect, expected, finish, given, inspect, open, others, secret, signIn, weigh, wrong } from './tools.mjs';

others.push(given.media);
const main = (page) => page.locator('main');

// pictures fails unless all pictures of a page were shown.
async function pictures(page, least) {
  for (const image of await page.locator('main img').all()) await image.scrollIntoViewIfNeeded();
  await page.waitForLoadState('networkidle');
  const shown = await page.evaluate(() => [...document.querySelectorAll('main img')].map((i) => i.naturalWidth));
  if (shown.length < least || shown.includes(0)) wrong(`${page.url()}: the pictures are ${shown.join(' ')}, want ${least} at least`);
}

// thumbnails fails unless all pictures of a page are thumbnails.
async function thumbnails(page) {
  const shown = await page.evaluate(() => [...document.querySelectorAll('main img[src^="http"]')].map((i) => i.naturalWidth));
  if (!shown.length || shown.some((width) => width !== 400)) wrong(`${page.url()}: the pictures are ${shown.join(' ')} pixels wide`);
}

async function journeyOfTheQueue(page) {
  await page.goto(given.base + '/settings/approvals');
  await pictures(page, 2);
  await thumbnails(page);
  await page.getByRole('link', { name: /^Changes requested/ }).click();
  await page.waitForURL('**tab=changes_requested*');
  expect('the items whose changes were requested', await page.locator('main [data-post]').count(), 1);
  await page.goto(`${given.base}/settings/content-items/${given.carousel}`);
  await pictures(page, 2);
  await page.goto(`${given.base}/settings/content-items/${given.post}`);
  await pictures(page, 1);
  expected.push('422 (Unprocessable');
  await page.getByRole('button', { name: 'Request changes' }).click();
  await page.getByRole('alert').getByText('Write in the note what is to be changed.').first().waitFor();
  await everywhere(page, 'note missing');
  expected.pop();
  await page.getByLabel('Note').fill('Name the price.');
  await page.getByRole('button', { name: 'Request changes' }).click();
  await page.getByText('Changes are requested.').waitFor();
  // By the keyboard alone.
  await page.goto(`${given.base}/settings/content-items/${given.post}`);
  await page.getByLabel('Note').focus();
  await page.keyboard.type('Fine now.');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('The item is approved.').waitFor();
  if (await page.locator(`a[href$="${given.post}"]`).count()) wrong('an approved item stays in the queue');
}

// linkOf makes a review link for chosen items, and returns its address.
async function linkOf(page, name, may, items) {
  await page.goto(given.base + '/settings/approvals');
  const pick = (item) => page.locator(`input[name="item"][value="${item}"]`);
  const some = [];
  for (const item of items) if (await pick(item).count()) { await pick(item).check(); some.push(item); }
  if (some.length < items.length) await page.goto(`${given.base}/settings/review-links/new?${new URLSearchParams(items.map((item) => ['item', item]))}`);
  else await page.getByRole('button', { name: 'Create a review link' }).click();
  await page.getByRole('heading', { level: 1, name: 'Create a review link' }).waitFor();
  expect('the chosen items', await page.locator('main input[name="item"]').count(), items.length);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel(may).check();
  await page.getByLabel('Days').fill('3');
  await everywhere(page, 'review link of items');
  await page.getByRole('button', { name: 'Create the link' }).click();
  await page.getByRole('heading', { name: 'The review link' }).waitFor();
  await everywhere(page, 'review link made');
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect('the copied link', await page.evaluate(() => navigator.clipboard.readText()), await secret(page));
  return secret(page);
}

// The public page of a review link, on a phone and on a desktop.
async function journeyOfTheReviewers(page) {
  const viewing = await linkOf(page, 'Only to look at', 'Look at the content', [given.carousel, given.story]);
  const deciding = await linkOf(page, 'To decide', 'Also approve it', [given.carousel, given.story, given.own]);
  for (const device of [{ name: 'phone', viewport: { width: 375, height: 760 }, isMobile: true, hasTouch: true }, { name: 'desktop', viewport: { width: 1280, height: 860 } }]) {
    const context = await browser.newContext(device);
    const visitor = await open(context);
    await visitor.goto(viewing);
    await visitor.getByRole('heading', { level: 1, name: 'Only to look at' }).waitFor();
    expect(`the forms of a link to view on a ${device.name}`, await visitor.locator('form[method="post"]').count(), 0);
    await pictures(visitor, 2);
    await inspect(visitor, `review view ${device.name}`, `review-view-${device.name}`);
    await visitor.goto(deciding);
    for (const card of await visitor.locator('details.whole > summary').all()) await card.click();
    await pictures(visitor, 2);
    await thumbnails(visitor);
    const [whole] = await Promise.all([context.waitForEvent('page'), visitor.getByRole('link', { name: /^Image 1 of/ }).first().click()]);
    await whole.waitForLoadState();
    expect('the width of a whole picture', await whole.evaluate(() => document.images[0].naturalWidth), 1080);
    await whole.close();
    for (const colorScheme of ['dark', 'light']) {
      await visitor.emulateMedia({ colorScheme });
      await inspect(visitor, `review decide ${device.name} ${colorScheme}`, `review-decide-${device.name}-${colorScheme}`);
    }
    const article = visitor.locator(`article[aria-labelledby="${device.isMobile ? given.story : given.own}-title"]`);
    const top = () => article.evaluate((e) => Math.round(e.getBoundingClientRect().top));
    const other = visitor.locator(`article[aria-labelledby="${given.carousel}-title"]`);
    await other.getByText('Request changes', { exact: true }).click();
    await other.getByLabel('What is to be changed?').fill('Keep this note.');
    await article.getByText('Request changes', { exact: true }).click();
    expected.push('422 (Unprocessable');
    await article.getByRole('button', { name: 'Send the request' }).click();
    await article.getByText('Write in the note what is to be changed.').waitFor();
    expect('the focus after a missing note', await article.getByLabel('What is to be changed?').evaluate((e) => e === document.activeElement), true);
    expect('a note about another post', await other.getByLabel('What is to be changed?').inputValue(), 'Keep this note.');
    await inspect(visitor, `review note ${device.name}`, `review-note-${device.name}`);
    expected.pop();
    await article.getByLabel('What is to be changed?').fill('Brighter, please.');
    await article.getByRole('button', { name: 'Send the request' }).click();
    await article.getByText('changes requested').waitFor();
    expect('a note about another post after a decision', await other.getByLabel('What is to be changed?').inputValue(), 'Keep this note.');
    if (await top() < 0 || await top() > 700) wrong(`the post is at ${await top()} after the decision`);
    await article.getByRole('button', { name: /^Undo/ }).click();
    await article.getByText('not decided yet').waitFor();
    await article.getByRole('button', { name: 'Approve' }).click();
    await article.getByText('approved').waitFor();
    if (await top() < 0 || await top() > 700) wrong(`the post is at ${await top()} after the approval`);
    await inspect(visitor, `review approved ${device.name}`, `review-approved-${device.name}`);
    await context.close();
  }

  // A deleted link has ended.
  await page.goto(given.base + '/settings/review-links');
  await page.getByRole('link', { name: 'Delete: To decide' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Delete' }).waitFor();
  await everywhere(page, 'review link delete');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The review link is deleted.').waitFor();
  expected.push('404 (Not Found)');
  for (const [name, width] of [['phone', 375], ['desktop', 1280]]) {
    const context = await browser.newContext({ viewport: { width, height: 760 } });
    const visitor = await open(context);
    await visitor.goto(deciding);
    await visitor.getByRole('heading', { name: 'This page has ended' }).waitFor();
    await inspect(visitor, `review ended ${name}`, `review-ended-${name}`);
    await context.close();
  }
  expected.pop();
}

async function journeyOfTheCalendar(page) {
  await page.goto(`${given.base}/settings/calendar?date=${given.day}`);
  const cell = (date) => page.locator('.calendar > li', { has: page.locator(`time[datetime="${date}"]`) });
  expect('the entries of a day in a month', await cell(given.day).locator('ul > li').count(), 4);
  await cell(given.day).getByText('+2 more').click();
  await page.getByRole('navigation', { name: 'View' }).getByRole('link', { name: 'Week' }).click();
  await page.getByRole('heading', { level: 2, name: /^Week of/ }).waitFor();
  expect('the entries of a day in a week', await cell(given.day).locator('ul > li').count(), 6);
  const out = await page.evaluate(() => [...document.querySelectorAll('.calendar > li')].filter((day) => [...day.querySelectorAll('a')].some((a) => a.getBoundingClientRect().right > day.getBoundingClientRect().right)).length);
  expect('the days whose entries leave their place', out, 0);
  // The last entry is at 14:00 in UTC, which is the next day in Auckland.
  await page.getByLabel('Time zone').fill('Pacific/Auckland');
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('heading', { level: 2, name: /^Week of/ }).waitFor();
  if ((await cell(given.day).locator('ul > li').count()) >= 6) wrong('the zone changes nothing');
  expected.push('422 (Unprocessable');
  await page.getByLabel('Time zone').fill('Mars/Olympus');
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByText('There is no such time zone.').waitFor();
  await inspect(page, 'no such zone', 'calendar-zone');
  expected.pop();
  await page.getByLabel('Time zone').fill('UTC');
  await page.getByRole('button', { name: 'Change' }).click();
  await page.goto(`${given.base}/settings/calendar?date=${given.day}`);
  await page.getByLabel('Platform').selectOption({ label: 'VK' });
  await page.waitForURL('**platform=vk*');
  expect('the entries of VK', await page.locator('.calendar ul > li').count(), 0);
  await page.goto(`${given.base}/settings/calendar?date=${given.day}`);
  await page.setViewportSize({ width: 375, height: 760 });
  expect('the days on a phone', await page.locator('.calendar > li:visible').count(), await page.locator('.calendar > li:not([data-empty])').count());
  await page.setViewportSize({ width: 1280, height: 860 });
  await cell(given.day).getByRole('link').first().click();
  await page.getByRole('heading', { level: 1, name: /^Coffee of the day/ }).waitFor();
}

async function journeyOfAProfile(page) {
  await page.goto(given.base + '/settings/profiles');
  await page.getByRole('link', { name: 'Create a profile' }).click();
  await page.getByLabel('Name').fill('Alpine Bikes');
  await page.getByLabel('Spending limit').fill('500');
  await page.getByRole('button', { name: 'Create the profile' }).click();
  await page.getByText('500 credits are left').waitFor();
  await page.getByLabel('Spending limit').fill('700');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('700 credits are left').waitFor();
  const at = page.url().split('?')[0];

  await page.getByRole('link', { name: 'Connect an account' }).click();
  await page.getByRole('heading', { name: 'Connect an account for Alpine Bikes' }).waitFor();
  await page.getByRole('button', { name: 'Connect: VK' }).click();
  await page.getByRole('heading', { name: 'The connect link' }).waitFor();
  const link = await secret(page);
  await everywhere(page, 'connect link');
  const context = await browser.newContext({ viewport: { width: 375, height: 760 } });
  const client = await open(context);
  await client.goto(link);
  await client.getByText('Alpine Bikes').first().waitFor();
  expect('the header of the connect page', await client.locator('.bar').innerText(), 'Alpine Bikes');
  await inspect(client, 'connect page', 'connect-page-phone');
  await client.emulateMedia({ colorScheme: 'dark' });
  await client.setViewportSize({ width: 1280, height: 860 });
  await inspect(client, 'connect page on a desktop', 'connect-page-desktop');
  await client.emulateMedia({ colorScheme: 'light' });
  expected.push('400 (Bad Request');
  await client.goto(link.replace('link=', 'link=x'));
  await client.getByRole('heading', { name: 'This link is not valid' }).waitFor();
  await inspect(client, 'connect page of a bad link', 'connect-page-invalid');
  expected.pop();
  await context.close();

  // A profile that something belongs to is not deleted.
  const dialog = page.getByRole('dialog');
  await fetch(`${given.advance}?by=10s`);
  expected.push('409 (Conflict)');
  await page.goto(at);
  await page.getByRole('link', { name: 'Delete' }).click();
  await dialog.getByLabel('Type the name to go on').fill('Alpine Bikes');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alert').getByText('The profile still has social accounts.').first().waitFor();
  await everywhere(page, 'profile not deleted');
  expected.pop();
  await page.goto(`${given.base}/settings/social-accounts?profile_id=${at.split('/').pop()}`);
  await page.getByRole('link', { name: /^Disconnect/ }).click();
  await dialog.getByRole('button', { name: 'Disconnect' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.goto(at);
  await page.getByRole('link', { name: 'Delete' }).click();
  await dialog.getByLabel('Type the name to go on').fill('Alpine Bikes');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The profile is deleted.').waitFor();
}

async function journeyOfAnAutomation(page) {
  for (const [trigger, label, value] of [['A new entry of a feed', 'Address of the feed', given.feed], ['A new product of the factory'], ['The times of a schedule', 'Cron expression', '0 9 * * 1']]) {
    await page.goto(given.base + '/settings/automations/new');
    await page.getByLabel('Factory', { exact: true }).selectOption({ label: 'Shop (seller)' });
    await page.getByLabel(trigger).check();
    expect(`the fields of ${trigger}`, await page.locator('[data-for]:visible').count(), label ? 1 : 0);
    if (label) await page.getByLabel(label).fill(value);
    await page.getByLabel('Prompt of the content').fill('Tell what is new');
    await page.getByLabel('Most items a day').fill('3');
    await page.getByRole('button', { name: 'Create the automation' }).click();
    await page.getByText('The automation is created.').waitFor();
  }
  await page.getByLabel('Cron expression').fill('often');
  expected.push('422 (Unprocessable');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').first().waitFor();
  expect('the refused field', await page.getByLabel('Cron expression').inputValue(), 'often');
  await inspect(page, 'automation refused', 'automation-refused');
  expected.pop();
  await page.getByLabel('Cron expression').fill('0 10 * * 1');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The automation is changed.').waitFor();
  await page.goto(given.base + '/settings/automations');
  await page.getByText('Last failure').waitFor();
  await page.getByRole('button', { name: 'Pause: 0 10 * * 1' }).click();
  await page.getByText('The automation is paused.').waitFor();
  await page.getByRole('button', { name: 'Resume: 0 10 * * 1' }).click();
  await page.getByText('The automation goes on').waitFor();
  await page.getByRole('link', { name: 'Delete: 0 10 * * 1' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Delete' }).waitFor();
  await everywhere(page, 'automation delete');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The automation is deleted.').waitFor();
}

// Enter in a field submits the form, and presses no preset.
async function journeyOfABoundKey(page) {
  await page.goto(given.base + '/settings/api-keys');
  const cut = await page.locator('.table-container').evaluate((e) => e.scrollWidth - e.clientWidth);
  if (cut > 0) wrong(`the table of keys is ${cut} pixels wider than its place`);
  await page.goto(given.base + '/settings/api-keys/new');
  await page.getByLabel('Name').fill('By Enter');
  await page.locator('summary', { hasText: /^More/ }).click();
  for (const none of await page.getByRole('radio', { name: 'No access' }).all()) await none.check();
  expect('the preset after other scopes', await page.getByLabel('The program may').inputValue(), '');
  expected.push('422 (Unprocessable');
  await page.getByLabel('Name').press('Enter');
  await page.getByRole('alert').first().waitFor();
  expect('the scopes after Enter', await page.locator('[data-scope-row] input:not([value=""]):checked').count(), 0);
  expected.pop();
  await page.getByRole('checkbox', { name: /^Harbour/ }).check();
  await page.getByRole('group', { name: 'Content' }).getByRole('radio', { name: 'Read' }).check();
  await page.getByLabel('Name').press('Enter');
  await page.getByRole('heading', { name: 'Your new API key' }).waitFor();
  await page.goto(given.base + '/settings/api-keys');
  await page.getByLabel('Client', { exact: true }).selectOption(given.profile);
  await page.waitForURL('**profile_id=*');
  await page.getByRole('link', { name: 'By Enter', exact: true }).click();
  await main(page).getByText(/Harbour/).first().waitFor();
}

async function journeyOfAnIntegration(page) {
  await page.goto(given.base + '/settings/integrations');
  await page.getByRole('button', { name: 'Connect: HubSpot' }).click();
  await page.getByRole('heading', { name: 'Continue at the CRM' }).waitFor();
  await everywhere(page, 'integration continue');
  await page.goto(given.base + '/settings/integrations');
  await everywhere(page, 'integrations');
  await page.locator('main table a').first().click();
  await page.getByText('It was not synchronized yet.').waitFor();
  await everywhere(page, 'integration');
  await page.goto(given.base + '/settings/integrations');
  await page.getByRole('link', { name: /^Disconnect/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
  await page.getByText('disconnected').waitFor();
}

const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, permissions: ['clipboard-read', 'clipboard-write'] });
const page = await open(context);
try {
  await signIn(page, 'owner');
  if (!given.only || given.only === "pages") { await everyPage(page); await weigh(context); }
  // The walk takes many minutes of the clock, and sensitive changes need a recent sign-in.
  await context.clearCookies();
  await signIn(page, 'owner');
  const journeys = { journeyOfTheQueue, journeyOfTheReviewers, journeyOfTheCalendar, journeyOfAProfile, journeyOfAnAutomation, journeyOfABoundKey, journeyOfAnIntegration };
  for (const [name, journey] of Object.entries(journeys)) if (!given.only || name.includes(given.only)) await journey(page);
} catch (e) {
  wrong(`${page.url()}: ${e.message}`);
  await page.screenshot({ path: `${given.pictures}/failed.png` });
} finally {
  await finish();
}
