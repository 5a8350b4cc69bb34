// Makes a post from a brief, and prints the address of its picture.
import { ContentAutomation } from '@content-automation/api';

const client = new ContentAutomation({ apiKey: process.env.SVC_API_KEY!, baseUrl: process.env.BASE_URL! });

const factory = await client.factories.create({ type: 'brand', name: 'Acme', settings: { brand_name: 'Acme' } });
const queued = await client.content.create({
  factory_id: factory.id, kind: 'post', prompt: 'Our new trail running shoe, made of recycled nets',
});
const item = await client.content.waitFor(queued.id);
console.log(item.title, item.media[0]?.url);
