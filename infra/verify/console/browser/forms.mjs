// Nothing that was typed is lost by the button Back, and what has many options is typed, in a real Chromium.
import { browser, everyPage, everywhere, expect, expected, finish, given, inspect, open, others, signIn, weigh, wrong } from './tools.mjs';

others.push(given.media);
expected.push('status of 422');
const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, timezoneId: 'Europe/Berlin' });
const page = await open(context);
const typed = (fields) => page.evaluate((names) => names.map((name) => document.querySelector(`main [name="${name}"]:not([type=hidden])`)?.value ?? ''), Object.keys(fields));
const fill = async (fields) => {
  for (const [name, value] of Object.entries(fields)) {
    await page.evaluate((of) => { for (const one of document.querySelectorAll('details')) if (one.querySelector(`[name="${of}"]`)) one.open = true; }, name);
    await page.locator(`main [name="${name}"]:not([type=hidden])`).first().fill(value);
  }
};
const send = (name) => Promise.all([page.waitForNavigation(), page.evaluate((of) => {
  const { form } = document.querySelector(`main [name="${of}"]:not([type=hidden])`);
  form.noValidate = true;
  form.requestSubmit();
}, name)]);
const same = async (what, fields) => {
  const got = await typed(fields);
  for (const [i, [name, value]] of Object.entries(fields).entries()) expect(`${what}: ${name}`, got[i], value);
};

// A form that is refused twice: each Back leads to what was typed, and no page asks to send a form again.
async function journeyBack(form) {
  await page.goto(given.base + form.path);
  await fill(form.fields);
  const names = Object.keys(form.fields);
  await send(names[0]);
  if (!(await page.locator('[role=alert]:visible').count())) wrong(`${form.path}: the form is not refused`);
  await same(`${form.path} refused`, form.fields);
  const second = Object.fromEntries(Object.entries(form.fields).map(([name, value]) => [name, form.keep?.includes(name) ? value : `${value}2`]));
  await fill(second);
  await page.goto(`${given.base}/settings/events`);
  await page.goBack();
  await same(`${form.path} after Back`, second);
  await page.goBack();
  await same(`${form.path} after two Backs`, form.fields);
}

async function journeyOfTheReview() {
  const visitor = await browser.newContext({ viewport: { width: 390, height: 844 } }), review = await open(visitor);
  await review.goto(given.link);
  const notes = review.locator('textarea');
  const show = () => review.evaluate(() => { for (const one of document.querySelectorAll('details')) one.open = true; });
  await show();
  await notes.nth(1).fill('The second note');
  await notes.nth(2).fill('The third note');
  const request = review.getByRole('button', { name: 'Send the request' });
  await Promise.all([review.waitForNavigation(), request.first().click()]);
  await review.getByText('Write in the note what is to be changed.').waitFor();
  await show();
  expect('the note after an error', await notes.nth(1).inputValue(), 'The second note');
  await notes.nth(2).fill('The third note, longer');
  await Promise.all([review.waitForNavigation(), request.first().click()]);
  await review.goBack();
  await show();
  expect('the note after Back', await notes.nth(1).inputValue(), 'The second note');
  expect('the longer note after Back', await notes.nth(2).inputValue(), 'The third note, longer');
  await review.goBack();
  await show();
  expect('the note after two Backs', await notes.nth(2).inputValue(), 'The third note');
  await review.goForward();
  await review.goForward();
  await show();
  expect('the note after Forward', await notes.nth(1).inputValue(), 'The second note');
  // A decision keeps the notes about other posts, and so does Back to it.
  await Promise.all([review.waitForNavigation(), review.getByRole('button', { name: 'Approve' }).first().click()]);
  await show();
  expect('the notes after a decision', await review.locator('textarea').filter({ hasText: 'note' }).count(), 2);
  const zone = review.getByLabel('Time zone');
  await zone.fill('Asia/Tokyo');
  await inspect(review, 'review page');
  await visitor.close();
}

// No select has more than 15 options: people type a part of the name.
async function journeyOfTheChoices() {
  for (const path of given.choices) {
    await page.goto(given.base + path);
    const long = await page.evaluate(() => [...document.querySelectorAll('select')].filter((one) => !one.hidden && one.options.length > 16).map((one) => one.name));
    for (const name of long) wrong(`${path}: ${name} is a long select`);
  }
  await page.goto(given.base + given.choices[0]);
  const country = page.getByRole('combobox', { name: 'Country' });
  await country.click();
  await inspect(page, 'countries', 'countries');
  await country.fill('germ');
  await page.getByRole('option', { name: 'Germany' }).click();
  expect('the country', await page.locator('select[name=region]').inputValue(), 'DE');
  await country.fill('åland');
  await country.press('Enter');
  await page.waitForTimeout(300);
  expect('a country by its name', await page.locator('select[name=region]').inputValue(), 'AX');
  await page.goto(given.base + given.automation);
  const factory = page.getByRole('combobox', { name: 'Factory' });
  await factory.fill('store 17');
  await page.getByRole('option', { name: 'Store 17' }).click();
  expect('the factory', await page.locator('input[type=hidden][name=factory_id]').inputValue(), given.factory);
  await page.getByLabel('Prompt of the content').fill('{{nothing}}');
  await page.getByLabel('Address of the feed').fill('ftp://x');
  await send('prompt');
  expect('the factory after an error', await page.getByRole('combobox', { name: 'Factory' }).inputValue(), 'Store 17');
}

async function journeyOfATemplate() {
  await page.goto(`${given.base}/settings/templates`);
  await page.getByRole('link', { name: 'Create a template' }).click();
  await page.getByLabel('Name').fill('Autumn');
  await page.getByLabel('Editorial').check();
  await page.getByRole('button', { name: 'Create the template' }).click();
  await page.getByText('The template is created.').waitFor();
  const design = page.getByLabel('Design');
  await design.fill((await design.inputValue()).replace('"round": ', '"round": 999'));
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('#design-error').waitFor();
  await everywhere(page, 'template refused');
  await page.goBack();
  await page.getByRole('button', { name: 'Show it with samples' }).click();
  await page.getByAltText('Picture of the template').first().waitFor();
  await everywhere(page, 'template');
  await page.getByRole('link', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Delete' }).waitFor();
  await inspect(page, 'template delete', 'template-delete');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The template is deleted.').waitFor();
}

// All pages in the sandbox, those of the documentation and of a client, in both schemes: with names of 60 letters, and of
// a language from right to left.
async function journeyOfTheSandbox() {
  await page.goto(`${given.base}/settings`);
  await page.getByRole('button', { name: 'Sandbox' }).click();
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 375]) {
      await page.setViewportSize({ width, height: 860 });
      for (const path of given.sandbox) {
        await page.goto(given.base + path);
        const name = `sandbox-${path.replace(/^\/(settings\/)?/, '').replace(/[^a-z]+/gi, '-').slice(0, 40)}`;
        await inspect(page, `sandbox ${path} ${colorScheme} ${width}`, `${name}-${colorScheme}-${width}`);
        const zones = await page.evaluate(() => [...new Set([...document.querySelectorAll('main time, main dd, main td')].flatMap((one) => one.textContent.match(/\b(UTC|CET|CEST)\b/g) ?? []))]);
        if (path.startsWith('/settings') && zones.length > 1) wrong(`${path} has times in ${zones}`);
      }
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.goto(`${given.base}/settings`);
  await page.getByRole('button', { name: 'Live' }).click();
}

try {
  await signIn(page, 'owner');
  if (!given.only || given.only === 'pages') { await everyPage(page); await weigh(context); }
  const journeys = { journeyOfTheSandbox, journeyOfTheReview, journeyOfTheChoices, journeyOfATemplate };
  for (const form of given.forms) journeys[`journeyBack ${form.path}`] = () => journeyBack(form);
  for (const [name, journey] of Object.entries(journeys)) {
    if (given.only && !name.includes(given.only)) continue;
    try { await journey(); } catch (e) { wrong(`${name}: ${page.url()}: ${e.message}`); }
    await fetch(given.pace);
  }
} catch (e) {
  wrong(`${page.url()}: ${e.message}`);
} finally {
  await page.screenshot({ path: `${given.pictures}/failed.png` });
  await finish();
}
