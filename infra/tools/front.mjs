// Draws the picture of the page at the root from one of the documentation, which shows finished media:
// node infra/tools/front.mjs. It needs Chromium, and playwright-core of the check of the explorer.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const root = new URL('../../', import.meta.url);
const { chromium } = createRequire(new URL('pkg/service/docs/browser/', root))('playwright-core');
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage();
const source = readFileSync(new URL('docs/media/ratios.jpg', root)).toString('base64');
const picture = await page.evaluate(async (source) => {
  const image = new Image();
  image.src = 'data:image/jpeg;base64,' + source;
  await image.decode();
  const canvas = new OffscreenCanvas(640, 520), draw = canvas.getContext('2d');
  // Each medium: its place in the picture of the documentation, its size, and its place here.
  for (const [x, y, w, h, atX, atY, width = w, height = h] of [
    [224, 274, 200, 249, 0, 0], [436, 274, 200, 249, 220, 0], [860, 274, 200, 249, 440, 0],
    [468, 800, 443, 243, 0, 270, 454, 249], [190, 536, 166, 249, 474, 270],
  ]) {
    draw.save();
    draw.beginPath();
    draw.roundRect(atX, atY, width, height, 14);
    draw.clip();
    draw.drawImage(image, x, y, w, h, atX, atY, width, height);
    draw.restore();
  }
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/webp', quality: 0.82 })).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}, source);
writeFileSync(new URL('pkg/service/docs/front.webp', root), Buffer.from(picture, 'base64'));
await browser.close();
