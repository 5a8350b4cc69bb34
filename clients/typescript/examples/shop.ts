// Has a catalog follow the feed of a shop, and prints what the run did. SVC_API_KEY has the key, BASE_URL the address.
import { ContentAutomation } from '@content-automation/api';

const client = new ContentAutomation();

const shop = await client.factories.create({ type: 'seller', name: 'Acme', settings: { currency: 'EUR' } });
await client.feeds.set(shop.id, {
  source: { url: 'https://shop.example.com/sandbox.xml' }, format: 'google_xml', photos: 'none',
});
const run = await client.feeds.syncAndWait(shop.id);
console.log(run.state, run.created, run.refused);
for (const refusal of run.refusals) console.log(refusal.row, refusal.member, refusal.reason);
