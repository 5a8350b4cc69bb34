// Takes the pictures of README and docs/console.md: two in each scheme.
import { browser, finish, given, open, others, seen, signIn, wrong } from './tools.mjs';

const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, timezoneId: 'Europe/Berlin' });
const page = await open(context);
page.on('request', (r) => { const { origin } = new URL(r.url()); if (r.resourceType() === 'image' && origin !== new URL(given.base).origin) others.push(origin); });
try {
  await signIn(page, 'owner', '/settings');
  for (const [name, path, colorScheme] of [['today', '/settings', 'light'], ['approvals', '/settings/approvals?tab=all', 'dark'],
    ['calendar', given.week, 'dark'], ['front', '/', 'light']]) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.goto(given.base + path, { waitUntil: 'networkidle' });
    await page.screenshot({ path: `${given.folder}/${name}.jpg`, type: 'jpeg', quality: 72 });
    seen.pictures++;
  }
  // What the pages had to load from the storage of media is no fault.
  seen.elsewhere = seen.elsewhere.filter((url) => !others.includes(new URL(url).origin));
} catch (e) {
  wrong(`${page.url()}: ${e.message}`);
} finally {
  await finish();
}
