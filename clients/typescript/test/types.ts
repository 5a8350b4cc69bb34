// What must compile, and what must not. The compiler of the tests reads it; nothing runs it.
import { openAsBlob } from 'node:fs';
import { ContentAutomation, FailedError, NotFoundError, type ContentItemUpdate, type Event } from '@content-automation/api';

export async function typed(client: ContentAutomation, event: Event, title: string | undefined): Promise<unknown[]> {
  await client.content.waitFor('cnt_1', { until: ['published'] });
  // @ts-expect-error: no item has this state
  await client.content.waitFor('cnt_1', { until: ['pubished'] });
  // @ts-expect-error: media are never published
  await client.media.waitFor('med_1', { until: ['published'] });

  const body: ContentItemUpdate = { title }; // a member may be undefined, as a parameter may
  await client.content.update('cnt_1', body, { ifMatch: 3, signal: undefined });

  if (event.type === 'content.of_a_later_service') return [event.id, event.data as { object: unknown }];
  if (event.type === 'content.generated') return [event.data.object.title];
  switch (event.type) {
    case 'balance.low':
      return [event.data];
    default:
      // @ts-expect-error: an event has no such member
      return [event.nothing];
  }
}

export async function lists(client: ContentAutomation): Promise<string[]> {
  const list = client.content.list();
  const { items, nextCursor } = await list;
  const raw = await client.content.list().withResponse();
  const next = await (await list).getNextPage();
  const all = await client.content.list().toArray({ limit: 3 });
  const none = await client.content.list().catch(() => undefined).finally(() => undefined);
  const found = [...items, ...raw.data, ...(next?.items ?? []), ...all, ...(none?.items ?? [])];
  return found.map((item) => item.id).concat(nextCursor ?? '');
}

export async function failures(client: ContentAutomation): Promise<string> {
  try {
    await client.upload(await openAsBlob('film.mp4'), 'video/mp4');
    return '';
  } catch (error) {
    if (error instanceof NotFoundError) return error.code;
    if (!(error instanceof FailedError)) throw error;
    const { failure, resource } = error;
    return `${failure?.code} ${failure?.message} ${resource.state}`;
  }
}

/** What the service would refuse for what it lacks does not compile. */
export async function bodies(client: ContentAutomation): Promise<void> {
  // @ts-expect-error There are no items.
  await client.publishing.bulk({ action: 'approve' });
  await client.publishing.bulk({ action: 'approve', content_item_ids: ['cnt_1'] });
  // @ts-expect-error A link shows items or a factory.
  await client.reviewLinks.create({});
  // @ts-expect-error A link shows one of both.
  await client.reviewLinks.create({ factory_id: 'fac_1', content_item_ids: ['cnt_1'] });
  await client.reviewLinks.create({ factory_id: 'fac_1' });
  // @ts-expect-error There is no prompt.
  await client.content.create({ factory_id: 'fac_1', kind: 'post' });
  await client.content.create({ factory_id: 'fac_1', kind: 'post', prompt: 'A shoe' });
  // @ts-expect-error Instagram takes no token of a bot.
  await client.socialAccounts.connect({ platform: 'instagram', bot_token: '1:a' });
  await client.socialAccounts.connect({ platform: 'instagram' });
}
