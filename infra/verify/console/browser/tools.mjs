// What the scripts that use the account area in a real Chromium share. The test passes what they need as JSON in the
// first argument.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

export const given = JSON.parse(process.argv[2]);
const origin = new URL(given.base).origin;
const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
export const seen = { elsewhere: [], complaints: [], violations: [], wrong: [], bytes: {}, again: {}, paints: {}, pictures: 0 };
export const wrong = (text) => seen.wrong.push(text);

export const browser = await chromium.launch({
  executablePath: given.chromium,
  args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run',
    // Whatever a page might ask for elsewhere, nothing leaves this machine.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1'],
});

// open makes a page whose every complaint is noted. The refusals that a journey wants are in expected.
export const expected = [];
export const others = []; // the origins of other hosts that pages may use, such as a command line that signs in
export async function open(context) {
  const page = await context.newPage();
  await page.emulateMedia({ reducedMotion: 'reduce' }); // colors are not measured while they change
  page.setDefaultTimeout(60_000);
  page.on('request', (r) => { if (!/^(data|blob):/.test(r.url()) && ![origin, ...others].includes(new URL(r.url()).origin)) seen.elsewhere.push(r.url()); });
  page.on('pageerror', (e) => seen.complaints.push(e.message));
  page.on('console', (m) => {
    if (['error', 'warning'].includes(m.type()) && !expected.some((e) => m.text().includes(e))) seen.complaints.push(`${page.url()}: ${m.text()} at ${m.location().url}`);
  });
  return page;
}

export async function signIn(page, user, path = '/settings/api-keys') {
  await page.goto(given.base + path);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByLabel('E-mail').fill(`${user}@demo.example`);
  await page.getByLabel('Password').fill(given.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
}

// inspect looks for what hinders people, and takes a picture if it gets a name for it.
export async function inspect(page, name, picture) {
  await page.waitForTimeout(200); // what fades in has its colours
  if (picture) { await page.screenshot({ path: `${given.pictures}/${picture}.png` }); seen.pictures++; }
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run({ resultTypes: ['violations'] }));
  for (const v of violations) for (const n of v.nodes) seen.violations.push(`${name}: ${v.id}: ${n.target.join(' ')}: ${n.html.slice(0, 140)}`);
  if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) seen.violations.push(`${name}: wider than the screen`);
}

// everywhere inspects what is open in both schemes and all widths.
const schemes = ['light', 'dark'], widths = [375, 768, 1280, 1920];
export async function everywhere(page, name) {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    for (const width of widths) {
      await page.setViewportSize({ width, height: 860 });
      const shown = width === 1280 || width === 375;
      await inspect(page, `${name} ${colorScheme} ${width}`, shown && `${name.replaceAll(' ', '-')}-${colorScheme}-${width}`);
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 860 });
}

// pace moves the clock: a person does not open pages so fast that calls are refused.
const pace = () => fetch(given.pace);

// everyPage inspects all pages, in both schemes and all widths. The names of the account are hostile.
export async function everyPage(page) {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    for (const width of widths) {
      await page.setViewportSize({ width, height: 860 });
      for (const path of given.pages) {
        await pace();
        await page.goto(given.base + path);
        const [at, query] = path.split('?'), parts = at.split('/').slice(2);
        const name = parts[0] || 'settings', detail = at.endsWith('/new') ? '-new' : parts.length > 1 ? '-detail' : '';
        const shown = width === 1280 || width === 375, filtered = query && name !== 'cli' ? '-' + query.split('=')[1].slice(0, 4) : '';
        await inspect(page, `${path} ${colorScheme} ${width}`, shown && `${name}${detail}${filtered}-${colorScheme}-${width}`);
      }
    }
  }
  if (await page.evaluate(() => window.hostile)) wrong('a name ran as a script');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 860 });
}

// weigh measures the first visit of each page, compressed, without what the account has published, and then the second
// one, with it.
export async function weigh(context) {
  for (const path of given.pages) {
    await pace();
    const fresh = await browser.newContext({ storageState: await context.storageState(), timezoneId: given.zone });
    const visit = async (counts) => {
      const page = await open(fresh), session = await fresh.newCDPSession(page), own = new Set();
      let bytes = 0;
      session.on('Network.requestWillBeSent', (e) => { if (counts(new URL(e.request.url, given.base).pathname)) own.add(e.requestId); });
      session.on('Network.loadingFinished', (e) => { if (own.has(e.requestId)) bytes += e.encodedDataLength; });
      await session.send('Network.enable');
      await page.goto(given.base + path, { waitUntil: 'networkidle' });
      const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0);
      await page.close();
      return [bytes, paint];
    };
    [seen.bytes[path], seen.paints[path]] = await visit((at) => /^\/(settings|auth)/.test(at));
    [seen.again[path]] = await visit(() => true);
    await fresh.close();
  }
}

// status calls the API with a key.
export async function status(key) {
  const response = await fetch(given.base + '/v1/me', { headers: { Authorization: `Bearer ${key}` } });
  return response.status;
}
export const expect = (what, got, want) => { if (got !== want) wrong(`${what}: ${got}, want ${want}`); };
export const secret = async (page) => (await page.locator('#secret').textContent()).trim();

// finish prints what was seen.
export async function finish() {
  await browser.close();
  console.log(JSON.stringify(seen));
  process.exit(); // a server of a journey that has failed may still listen
}
