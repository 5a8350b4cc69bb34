// Brings in a logo, makes a post that shows it, and publishes the post: node upload.ts LOGO.png
import { openAsBlob } from 'node:fs';
import { ContentAutomation } from '@content-automation/api';

const client = new ContentAutomation();

const logo = await client.upload(await openAsBlob(process.argv[2]!), 'image/png');
const factory = await client.factories.create({
  type: 'brand', name: 'Acme', settings: { brand_name: 'Acme', logo: logo.id },
});
const account = await client.socialAccounts.connect({
  platform: 'telegram', bot_token: process.env.BOT_TOKEN!, channel: '@acme_news',
});
const { id } = await client.content.create({ factory_id: factory.id, kind: 'post', prompt: 'Our new shoe' });
await client.content.waitFor(id);
await client.content.publish(id, { social_account_ids: [account.id] });
const item = await client.content.waitFor(id, { until: ['published'] });
for await (const publication of client.content.listPublications(item.id)) console.log(publication.platform, publication.url);
