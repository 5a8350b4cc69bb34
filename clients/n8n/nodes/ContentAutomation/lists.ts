import type { IDataObject, ILoadOptionsFunctions, INodeListSearchResult, INodePropertyOptions } from 'n8n-workflow';
import { call, fill } from './api';

const PAGES = 5;
const LABELS = [
  'display_name',
  'name',
  'title',
  'handle',
  'description',
  'prompt',
  'url',
  'event_type',
  'type',
  'kind',
];

/** Names a resource by what people gave it, and its state. */
function label(item: IDataObject): string {
  const named = LABELS.map((key) => item[key]).find((value) => typeof value === 'string' && value !== '');
  const state = typeof item.state === 'string' ? ` (${item.state})` : '';
  return `${String(named ?? item.id).slice(0, 80)}${state}`;
}

/** Reads a page of a list from a cursor on; with a filter, up to five pages, until some elements match. */
async function read(caller: ILoadOptionsFunctions, path: string, filter = '', cursor?: string) {
  const url = fill(path, (name) => caller.getCurrentNodeParameter(name, { extractValue: true }) ?? '');
  const results: INodePropertyOptions[] = [];
  let next: string | null | undefined = cursor;
  for (let page = 0; page < PAGES; page++) {
    const answer = await call(caller, { method: 'GET', url, qs: { limit: 100, ...(next && { cursor: next }) } });
    for (const item of (answer.data ?? []) as IDataObject[]) {
      const name = label(item);
      const value = String(item.id);
      if (`${name} ${value}`.toLowerCase().includes(filter.toLowerCase())) results.push({ name, value });
    }
    next = answer.next_cursor;
    if (!next || !filter || results.length > 0) break;
  }
  return { results, next };
}

/** Searches a list for a resource locator. */
export const search = (path: string) =>
  async function (this: ILoadOptionsFunctions, filter?: string, cursor?: string): Promise<INodeListSearchResult> {
    const { results, next } = await read(this, path, filter, cursor);
    return { results, paginationToken: next ?? undefined };
  };

/** Loads the options of a list of ids. */
export const load = (path: string) =>
  async function (this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
    const all: INodePropertyOptions[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES; page++) {
      const { results, next } = await read(this, path, '', cursor);
      all.push(...results);
      if (!next) break;
      cursor = next;
    }
    return all;
  };
