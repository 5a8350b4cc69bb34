// Opens the explorer in a real Chromium, as a developer does, and prints what
// happened as JSON. Called by the test with the browser's path, the page's
// address, a folder for pictures, the summary of GET /v1/me, which it tries, and
// all summaries that must be shown.
import { chromium } from 'playwright-core';

const [executablePath, address, pictures, tried, ...summaries] = process.argv.slice(2);
const key = 'svc_test_pasted';
const origin = new URL(address).origin;

const browser = await chromium.launch({
  executablePath,
  args: [
    '--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run',
    // Whatever the page might ask for elsewhere, nothing leaves this machine.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  ],
});
const seen = { elsewhere: [], complaints: [], missing: [], response: '', stored: '', kept: '', milliseconds: 0 };
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on('request', (r) => {
    if (!/^(data|blob):/.test(r.url()) && new URL(r.url()).origin !== origin) seen.elsewhere.push(r.url());
  });
  page.on('websocket', (s) => seen.elsewhere.push(s.url()));
  page.on('requestfailed', (r) => seen.complaints.push(`${r.url()}: ${r.failure()?.errorText}`));
  page.on('pageerror', (e) => seen.complaints.push(e.message));
  page.on('console', (m) => {
    if (['error', 'warning'].includes(m.type())) seen.complaints.push(`${m.type()}: ${m.text()}`);
  });

  const began = Date.now();
  await page.goto(address);
  const sidebar = page.getByRole('complementary', { name: /^Sidebar for/ }).first();
  await sidebar.getByText('Introduction', { exact: true }).waitFor();
  seen.milliseconds = Date.now() - began;
  await page.screenshot({ path: `${pictures}/page.png` });

  for (const closed = sidebar.getByRole('button', { name: /^Open Group/ }); await closed.count() > 0;) await closed.first().click();
  for (const summary of summaries) {
    if (await sidebar.getByText(summary, { exact: true }).count() === 0) seen.missing.push(summary);
  }
  await page.screenshot({ path: `${pictures}/open.png` });

  await page.getByPlaceholder('Token').first().fill(key);
  await sidebar.getByText(tried, { exact: true }).click();
  await page.getByRole('button', { name: /Test Request.*\/v1\/me\)/s }).click();
  const client = page.getByRole('dialog');
  await client.getByRole('button', { name: /^Send/ }).first().click();
  await client.getByText('Response Body').waitFor({ state: 'attached' });
  await client.getByText('"request_id"').waitFor();
  seen.response = await client.innerText();
  await page.screenshot({ path: `${pictures}/response.png` });
  await client.getByRole('button', { name: 'Close Client' }).click();

  seen.stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage, cookie: document.cookie }));
  await page.reload();
  await sidebar.getByText('Introduction', { exact: true }).waitFor();
  seen.kept = await page.getByPlaceholder('Token').first().inputValue();

  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.screenshot({ path: `${pictures}/phone.png` });
} catch (e) {
  seen.complaints.push(`the check itself: ${e.message}`);
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
