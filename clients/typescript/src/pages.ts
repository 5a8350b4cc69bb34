import { AnswerError } from './errors.js';
import type { Raw } from './core.js';

/** A page of a list. */
export interface Page<T> {
  items: T[];
  /** The cursor of the next page; null on the last one. */
  nextCursor: string | null;
  requestId: string;
  /** The headers of the answer, such as RateLimit. */
  headers: Headers;
  /** Reads the next page; undefined after the last one. */
  getNextPage(): Promise<Page<T> | undefined>;
}

/** A list: `for await` reads all pages as it goes on, `await` the first one. No page is read before it is asked for. */
export interface Pages<T> extends AsyncIterable<T>, Promise<Page<T>> {
  /** Reads the first page, with what came beside it. */
  withResponse(): Promise<Raw<T[]>>;
  /** Reads all pages, or the first `limit` elements. */
  toArray(options?: { limit?: number | undefined }): Promise<T[]>;
}

/** The list that reads its pages by a function. It reads the first one once, however often it is awaited. */
export class List<T> implements Pages<T> {
  readonly [Symbol.toStringTag] = 'Pages';
  readonly #read: (cursor?: string) => Promise<Raw<T[]>>;
  #first: Promise<Raw<T[]>> | undefined;

  constructor(read: (cursor?: string) => Promise<Raw<T[]>>) {
    this.#read = read;
  }

  withResponse(): Promise<Raw<T[]>> {
    return (this.#first ??= this.#read());
  }

  then<A = Page<T>, B = never>(
    done?: ((page: Page<T>) => A | PromiseLike<A>) | null, failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.withResponse().then((raw) => this.#page(raw)).then(done, failed);
  }

  catch<B = never>(failed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Page<T> | B> {
    return this.then(undefined, failed);
  }

  finally(done?: (() => void) | null): Promise<Page<T>> {
    return this.then().finally(done);
  }

  async toArray(options: { limit?: number | undefined } = {}): Promise<T[]> {
    const { limit = Infinity } = options;
    const all: T[] = [];
    if (limit <= 0) return all;
    for await (const item of this) if (all.push(item) >= limit) break;
    return all;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const seen = new Set<string>();
    for (let page: Page<T> | undefined = await this; page; page = await page.getNextPage()) {
      yield* page.items;
      if (!page.nextCursor) return;
      if (seen.has(page.nextCursor)) throw new AnswerError('next_cursor came before', 200, page.requestId);
      seen.add(page.nextCursor);
    }
  }

  #page(raw: Raw<T[]>, cursor?: string): Page<T> {
    const next = raw.nextCursor;
    if (next && next === cursor) {
      throw new AnswerError('next_cursor is the cursor of the request', raw.status, raw.requestId);
    }
    return {
      items: raw.data, nextCursor: next, requestId: raw.requestId, headers: raw.headers,
      getNextPage: async () => (next ? this.#page(await this.#read(next), next) : undefined),
    };
  }
}
