// Takes a post of a client of an agency through its life in the sandbox. SVC_API_KEY has a test key.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { ContentAutomation, Receiver, type Event, type ScopeInput } from '@content-automation/api';

const agency = new ContentAutomation();
const profile = await agency.profiles.create({ name: 'Acme' });
const scopes: ScopeInput[] = [
  'account:read', 'content:publish', 'content:read', 'content:write', 'factories:read', 'factories:write', 'social:manage',
  'webhooks:manage',
];
const key = await agency.apiKeys.create({ kind: 'test', name: 'Acme', scopes, profile_ids: [profile.id] });
const client = new ContentAutomation({ apiKey: key.secret!, userAgent: 'journey/1.0' });

const factory = await client.factories.create({
  type: 'brand', name: 'Acme', settings: { brand_name: 'Acme' }, approval: 'required',
});
const order = { factory_id: factory.id, kind: 'post', prompt: 'Our new trail running shoe' } as const;
const { credits } = await client.account.estimate({ operation: 'createContentItem', body: order });

// The receiver verifies each request, and answers before it does anything else.
let receiver: Receiver;
const events: Event[] = [];
const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
  const event = await receiver.event(request.headers, await text(request)).catch(() => undefined);
  response.writeHead(event ? 204 : 400).end();
  if (event && events.push(event)) server.emit('event');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
const webhook = await client.webhooks.create({ url, event_types: ['content.published'], profile_id: profile.id });
receiver = new Receiver(webhook.secret!);

const queued = await client.content.create(order);
const generated = await client.content.waitFor(queued.id);
const revised = await client.content.update(generated.id, { caption: 'Light as air.' }, { ifMatch: generated.version });
await client.approvals.approve(revised.id, { note: 'Good.' });
const account = await client.socialAccounts.connect({
  platform: 'bluesky', username: 'acme.bsky.social', password: process.env.APP_PASSWORD!, profile_id: profile.id,
});
const soon = new Date(Date.parse(revised.updated_at) + 90_000).toISOString();
await client.content.schedule(revised.id, { publish_at: soon, social_account_ids: [account.id] });
await client.content.waitFor(revised.id, { until: ['published'] });
if (!events.length) await once(server, 'event', { signal: AbortSignal.timeout(10_000) });

await agency.sandbox.advance({ seconds: 86_400 }); // a day later there are figures
const [publication] = await client.content.listPublications(revised.id).toArray();
const items = await client.content.list({ factory_id: factory.id }).toArray();
console.log(credits, publication?.metrics?.likes, items.map((item) => item.caption), events.map((event) => event.type));

await client.webhooks.delete(webhook.id);
await client.content.delete(revised.id);
await client.factories.delete(factory.id);
await client.socialAccounts.disconnect(account.id);
await agency.apiKeys.revoke(key.id);
await agency.profiles.delete(profile.id);
server.close();
