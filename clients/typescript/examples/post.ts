// Makes a post from a brief, and prints the address of its picture. SVC_API_KEY has the key, BASE_URL the address.
import { ContentAutomation } from '@content-automation/api';

const client = new ContentAutomation();

const factory = await client.factories.create({ type: 'brand', name: 'Acme', settings: { brand_name: 'Acme' } });
const queued = await client.content.create({
  factory_id: factory.id, kind: 'post', prompt: 'Our new trail running shoe, made of recycled nets',
});
const item = await client.content.waitFor(queued.id);
console.log(item.title, item.media[0]?.url);
