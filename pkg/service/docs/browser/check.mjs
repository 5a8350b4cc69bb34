// Uses the explorer and the pages in a real Chromium, as a developer does, and prints what
// happened as JSON. Called by the test with the browser's path, the address of the folder
// of the pages, a folder for pictures, whether the document is the API's own, the summary
// of GET /v1/me, which it tries, and all summaries that must be shown.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [executablePath, address, pictures, whole, tried, ...summaries] = process.argv.slice(2);
const key = 'svc_test_pasted';
const origin = new URL(address).origin;
const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

const browser = await chromium.launch({
  executablePath,
  args: [
    '--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run',
    // Whatever the page might ask for elsewhere, nothing leaves this machine.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  ],
});
const seen = { painted: {}, early: [], tried: '', chosen: [], reached: '', elsewhere: [], complaints: [], missing: [], violations: [], response: '', stored: '', otherTab: '', found: '', payload: '', samples: {}, milliseconds: 0 };

// open makes a page whose every complaint is noted.
async function open(context) {
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on('request', (r) => {
    if (!/^(data|blob):/.test(r.url()) && new URL(r.url()).origin !== origin) seen.elsewhere.push(r.url());
  });
  page.on('websocket', (s) => seen.elsewhere.push(s.url()));
  page.on('requestfailed', (r) => {
    // The front page asks whether the service works, and may be left before the answer.
    if (!r.url().endsWith('/healthz')) seen.complaints.push(`${r.url()}: ${r.failure()?.errorText}`);
  });
  page.on('pageerror', (e) => seen.complaints.push(e.message));
  page.on('console', (m) => {
    if (['error', 'warning'].includes(m.type())) seen.complaints.push(`${m.type()}: ${m.text()}`);
  });
  return page;
}

// inspect takes a picture, and looks for what hinders people.
async function inspect(page, name) {
  await page.waitForTimeout(300); // what fades in has its colours
  await page.screenshot({ path: `${pictures}/${name}.png` });
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run({ resultTypes: ['violations'] }));
  for (const v of violations) {
    for (const n of v.nodes) seen.violations.push(`${name}: ${v.id}: ${n.target.join(' ')}: ${n.html.slice(0, 120)}`);
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  if (wide) seen.violations.push(`${name}: wider than the screen`);
  const covered = page.viewportSize().width < 960 && await page.evaluate(() => [...document.querySelectorAll('.sample')].filter((sample) => sample.checkVisibility()).some((sample) => {
    const text = document.createRange();
    text.selectNodeContents(sample.querySelector('pre'));
    return text.getClientRects()[0].top < sample.querySelector('button').getBoundingClientRect().bottom - 4;
  }));
  if (covered) seen.violations.push(`${name}: a button to copy covers the sample`);
}

const sidebarOf = (page) => page.getByRole('complementary', { name: /^Sidebar for/ }).first();
const client = (page) => page.getByRole('dialog');
const send = (page) => client(page).getByRole('button', { name: /^Send/ }).locator('visible=true').first();

// load opens the explorer: a fragment does so at once, and the button asks for it.
async function load(page, hash = '') {
  await page.goto('about:blank');
  await page.goto(address + 'explorer' + hash);
  if (!hash) await page.locator('#try').click();
  await page.locator('#explorer > *').first().waitFor();
  await page.getByRole('main').getByRole('heading').first().waitFor();
}

// request sends what the explorer fills in for an operation, and returns the answer.
async function request(page, method, path, times = 1) {
  await page.getByRole('button', { name: new RegExp(`Test Request.*${method} ${path}\\)`, 's') }).first().click();
  for (let i = 0; i < times; i++) {
    const answered = page.waitForResponse((r) => new URL(r.url()).pathname.endsWith(path));
    await send(page).click();
    await answered;
  }
  await client(page).getByText('"request_id"').first().waitFor();
  return client(page).innerText();
}

// What can be read before the explorer. The small document has no operation of that name.
const read = ['../', 'reference', 'explorer', 'guides/quick-start', ...(whole === 'true' ? ['reference/createContentItem', 'reference/createFactory'] : [])];

// readWithoutTheExplorer opens pages with and without scripts: their content is painted, and no script of the explorer is
// loaded.
async function readWithoutTheExplorer() {
  for (const javaScriptEnabled of [true, false]) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, javaScriptEnabled });
    const page = await open(context);
    page.on('request', (r) => { if (r.url().includes('/scalar-')) seen.early.push(page.url()); });
    for (const path of read) {
      await page.goto(address + path, { waitUntil: 'load' });
      if (!await page.locator('main h1').isVisible()) seen.missing.push(`the heading of ${path}`);
      let paint;
      for (let i = 0; !paint && i < 40; i++) {
        await page.waitForTimeout(50);
        paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
      }
      seen.painted[`${path} ${javaScriptEnabled ? 'with' : 'without'} scripts`] = Math.round(paint ?? 1e6);
    }
    if (whole === 'true' && !javaScriptEnabled) {
      // Each sample can be reached, and a form leads to the results.
      await page.goto(address + 'reference/createContentItem');
      for (const language of ['TypeScript', 'Python', 'Go', 'Command line', 'curl']) {
        await page.locator('.tabs label', { hasText: language }).first().click();
        const shown = await page.locator('.tabs > div').evaluateAll((all) => all.filter((e) => e.checkVisibility()).length);
        if (shown !== 1) seen.missing.push(`${language}: ${shown} samples are shown`);
      }
      await page.goto(address + 'search');
      await page.getByRole('searchbox').fill('verify signature');
      await page.getByRole('button', { name: 'Search' }).click();
      await page.locator('.hits a[href^="guides/webhooks"]').first().waitFor();
    }
    await context.close();
  }
}

// tryAnOperation goes from the page of an operation to the explorer of its area, and chooses a language, which stays.
async function tryAnOperation() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await open(context);
  await page.goto(address + 'reference/listWebhooks');
  await page.locator('.tabs label', { hasText: 'Python' }).click();
  for (const path of ['reference/createFactory', 'guides/quick-start', '../']) {
    await page.goto(address + path);
    seen.chosen.push(await page.locator('.tabs > input:checked').first().inputValue());
  }
  await page.goto(address + 'reference/listWebhooks');
  const began = Date.now();
  await page.getByRole('link', { name: 'Try it' }).click();
  await page.getByRole('button', { name: /Test Request.*get \/v1\/webhooks\)/s }).first().waitFor();
  seen.tried = `${Date.now() - began} ms`;
  await page.screenshot({ path: `${pictures}/try.png` });
  await context.close();
}

// searchByKeys finds a page by the keyboard alone.
async function searchByKeys() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await open(context);
  await page.goto(address + 'guides/quick-start');
  await page.keyboard.press('/');
  await page.keyboard.type('webhok');
  await page.getByRole('option').nth(1).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('insufficient_balance');
  await page.getByRole('option', { name: /insufficient_balance/ }).first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  seen.found = await page.locator('[aria-selected="true"]').innerText();
  await page.screenshot({ path: `${pictures}/search.png` });
  await page.keyboard.press('Enter');
  await page.waitForURL('**/errors/insufficient_balance');
  seen.reached = await page.locator('h1').innerText();
  await context.close();
}

const close = (page) => client(page).getByRole('button', { name: 'Close Client' }).click();

try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await open(context);
  const began = Date.now();
  await load(page);
  const sidebar = sidebarOf(page);
  await sidebar.getByText('Introduction', { exact: true }).waitFor();
  seen.milliseconds = Date.now() - began;

  for (const closed = sidebar.getByRole('button', { name: /^Open Group/ }); await closed.count() > 0;) await closed.first().click();
  for (const summary of summaries) {
    if (await sidebar.getByText(summary, { exact: true }).count() === 0) seen.missing.push(summary);
  }
  await page.screenshot({ path: `${pictures}/open.png` });

  await page.getByPlaceholder('Token').first().fill(key);
  await sidebar.getByText(tried, { exact: true }).click();
  seen.response = await request(page, 'get', '/v1/me');
  await close(page);

  if (whole === 'true') {
    await load(page, '#tag/content/POST/v1/content-items');
    await request(page, 'post', '/v1/content-items', 2);
    await close(page);
    await request(page, 'get', '/v1/content-items');
    await close(page);

    const create = page.locator('.request-card').filter({ has: page.getByRole('button', { name: /Test Request.*post \/v1\/content-items\)/s }) });
    for (const [language, name] of [['Curl', 'curl'], ['TypeScript', 'typescript'], ['Python', 'client in python'], ['Command line', 'cli'],
      ['Requests', 'python'], ['NewRequest', 'go']]) {
      await create.getByRole('button', { name: /Shell|TypeScript|Python|Command line|Go/ }).first().click();
      await page.getByRole('option', { name: language, exact: true }).click();
      seen.samples[name] = await create.locator('pre').first().innerText();
    }

    await load(page, '#tag/webhooks/webhook/POST/content.generated');
    seen.payload = await page.locator('pre', { hasText: '"content.generated"' }).first().innerText();

  }

  // The key is the tab's: it is there after a reload, and nowhere else.
  await load(page);
  await sidebar.getByText('Introduction', { exact: true }).waitFor();
  seen.kept = await page.getByPlaceholder('Token').first().inputValue();
  const other = await open(context);
  await load(other);
  seen.otherTab = await other.getByPlaceholder('Token').first().inputValue();
  await page.close();
  seen.stored = await other.evaluate(async () => JSON.stringify({
    ...localStorage, ...sessionStorage, cookie: document.cookie, databases: await indexedDB.databases(),
  }));
  await context.close();

  await readWithoutTheExplorer();
  if (whole === 'true') {
    await tryAnOperation();
    await searchByKeys();
  }

  for (const width of [1280, 375]) {
    for (const colorScheme of ['light', 'dark']) {
      const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme });
      const page = await open(context);
      const name = (what) => `${what}-${width}-${colorScheme}`;
      for (const path of read.concat('guides/webhooks', 'guides/limits', 'guides/changelog', 'errors', 'errors/validation_failed', 'search?q=webhok')) {
        await page.goto(address + path);
        for (const folded of await page.locator('main details').all()) await folded.evaluate((e) => { e.open = true; });
        await inspect(page, name(path.replaceAll(/\W+/g, '-')));
      }
      await page.locator('.find').click();
      await page.getByRole('combobox').fill('schedule');
      await page.getByRole('option').first().waitFor();
      await inspect(page, name('dialog'));
      await load(page);
      await inspect(page, name('explorer'));
      if (whole === 'true') {
        await load(page, '#tag/webhooks/webhook/POST/content.generated');
        await page.getByText('"evt_').first().waitFor();
        await inspect(page, name('event'));
        await load(page, '#tag/content/POST/v1/content-items');
        await inspect(page, name('operation'));
        await request(page, 'post', '/v1/content-items');
        const at = await send(page).boundingBox();
        if (!at || at.x < 0 || at.x + at.width > width) seen.violations.push(`${name('client')}: the button to send is at ${JSON.stringify(at)}`);
        await inspect(page, name('client'));
        await close(page);
        await request(page, 'get', '/v1/content-items');
        const invalid = await client(page).getByText(/invalid/i).count();
        if (invalid) seen.violations.push(`${name('list')}: ${invalid} warnings about empty fields`);
        await inspect(page, name('list'));
        await close(page);
      }
      await context.close();
    }
  }
} catch (e) {
  seen.complaints.push(`the check itself: ${e.message}`);
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
