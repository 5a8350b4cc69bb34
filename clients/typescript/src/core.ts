import { AnswerError, classOf, ConfigError, ConnectionError, FailedError, TimeoutError, typeOf, WaitTimeoutError } from './errors.js';
import type { ErrorBody } from './types.gen.js';

/** The version of this package. */
export const VERSION = '1.0.0';

/** The options of a client. */
export interface ClientOptions {
  /** The API key: svc_live_… or svc_test_…. */
  apiKey: string;
  /** The base URL of the API, such as https://api.example.com. */
  baseUrl: string;
  /** How often a request is repeated. The default is 2. */
  maxRetries?: number;
  /** The milliseconds that an attempt may take. The default is 60000. */
  timeout?: number;
  /** The function that sends requests. The default is the global fetch. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** The name of the program, for the header User-Agent. */
  userAgent?: string;
  /** Waits, and returns the time: for tests. */
  clock?: { now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void> };
}

/** The options of a call. */
export interface RequestOptions {
  /** By default each call has a new key, which its repeats share. */
  idempotencyKey?: string;
  /** Makes a change only if the resource still has this ETag. */
  ifMatch?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  timeout?: number;
  maxRetries?: number;
}

/** The options of a call that waits for work. */
export interface WaitOptions extends RequestOptions {
  /** The states to wait for, instead of all in which the work has succeeded. */
  until?: string[];
  /** The greatest pause between requests in milliseconds. The default is 10000. */
  interval?: number;
  /** The milliseconds after which waiting ends with an error. The default is 15 minutes. */
  waitAtMost?: number;
}

/** A result, with what came beside it. */
export interface Raw<T> {
  data: T;
  status: number;
  headers: Headers;
  requestId: string;
  /** Whether this is the response of an earlier request with the same idempotency key. */
  replayed: boolean;
  attempts: number;
  nextCursor: string | null;
}

/** The promise of a result. */
export type Call<T> = Promise<T> & { withResponse(): Promise<Raw<T>> };

/** A page of a list. */
export interface Page<T> {
  items: T[];
  /** The cursor of the next page; null on the last one. */
  nextCursor: string | null;
}

/** A list: `for await` reads all pages as it goes on, `await` reads the first one. */
export type Pages<T> = AsyncIterable<T> & PromiseLike<Page<T>>;

/** What a request has beside its path. */
export interface Sent {
  query?: object | undefined;
  body?: unknown;
}

/** When work has ended, and the parameters of the call that reads it. */
export type Rule = readonly [member: string, done: readonly string[], failed: readonly string[], query?: object | undefined];

const MAX_RETRY_AFTER = 60;
const UPLOAD_TIMEOUT = 600000;
const RETRIED = [408, 429, 500, 502, 503, 504];

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => (clearTimeout(timer), reject(signal?.reason));
    const timer = setTimeout(() => (signal?.removeEventListener('abort', stop), resolve()), ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Sends requests. The key is in a private field, which nothing prints. */
export class Core {
  readonly #key: string;
  readonly #base: string;
  readonly #options: ClientOptions;
  readonly #clock: NonNullable<ClientOptions['clock']>;

  constructor(options: ClientOptions) {
    const { apiKey, baseUrl } = options;
    if (!apiKey) throw new ConfigError('the API key is empty');
    if (!/^svc_(live|test)_[0-9A-Za-z]{49}$(?!\n)/.test(apiKey)) {
      throw new ConfigError('the API key is malformed: a key is svc_live_ or svc_test_ and 49 letters and digits');
    }
    let url: URL;
    try {
      url = new URL(baseUrl);
    } catch {
      throw new ConfigError('the base URL must be a URL such as https://api.example.com');
    }
    if (!/^https?:$/.test(url.protocol) || url.search || url.username) {
      throw new ConfigError('the base URL must be a URL such as https://api.example.com');
    }
    const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
    if (url.protocol === 'http:' && apiKey.startsWith('svc_live_') && !local) {
      throw new ConfigError('the base URL must use https for a live key');
    }
    this.#key = apiKey;
    this.#base = baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
    this.#options = { ...options, apiKey: '' };
    this.#clock = options.clock ?? { now: () => Date.now(), sleep };
  }

  /** Names the client without its key. */
  toString(): string {
    return `ContentAutomation(${this.#base}, ${this.#key.slice(0, 9)}…)`;
  }

  /** Calls an operation. Its path has parameters in braces. */
  call<T>(method: string, path: string, args: string[], sent: Sent, options: RequestOptions = {}): Call<T> {
    const raw = this.send<T>(method, path, args, sent, options);
    const data = raw.then((r) => r.data);
    // A caller of withResponse handles the errors of raw: those of data are no other ones.
    return Object.assign(data, { withResponse: () => (data.catch(() => undefined), raw) });
  }

  /** Reads a list. */
  pages<T>(path: string, args: string[], query: object | undefined, options: RequestOptions = {}): Pages<T> {
    const page = (cursor?: string) =>
      this.send<T[]>('GET', path, args, { query: cursor ? { ...query, cursor } : query }, options);
    return {
      then: (resolve, reject) =>
        page().then((r) => ({ items: r.data, nextCursor: r.nextCursor })).then(resolve, reject),
      async *[Symbol.asyncIterator]() {
        for (let cursor: string | undefined; ; ) {
          const r = await page(cursor);
          if (r.nextCursor && r.nextCursor === cursor) {
            throw new AnswerError('next_cursor is the cursor of the request', r.status, r.requestId);
          }
          yield* r.data;
          if (!r.nextCursor) return;
          cursor = r.nextCursor;
        }
      },
    };
  }

  /** Reads a resource until its work has ended. */
  async wait<T>(path: string, args: string[], rule: Rule, options: WaitOptions = {}): Promise<T> {
    const start = this.#clock.now();
    for (let pause = 1000; ; pause *= 1.5) {
      const r = await this.send<T>('GET', path, args, { query: rule[3] }, options);
      const state = String((r.data as Record<string, unknown>)[rule[0]]);
      if ((options.until ?? rule[1]).includes(state)) return r.data;
      if (rule[2].includes(state)) throw new FailedError(state, r.data);
      const after = retryAfter(r.headers);
      const next = after ? Math.min(after, MAX_RETRY_AFTER) * 1000 : Math.min(pause, options.interval ?? 10000);
      if (this.#clock.now() - start + next > (options.waitAtMost ?? 900000)) throw new WaitTimeoutError(state);
      await this.#clock.sleep(next, options.signal);
    }
  }

  /** Sends a file to storage. The request is signed, and has no API key. */
  async put(url: string, init: RequestInit): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const ended = AbortSignal.timeout(UPLOAD_TIMEOUT);
      const signal = init.signal ? AbortSignal.any([init.signal, ended]) : ended;
      const response = await this.#fetch(url, { ...init, signal, redirect: 'manual' }).catch(() => undefined);
      if (init.signal?.aborted) throw init.signal.reason;
      if (response?.ok) return;
      if (attempt > (this.#options.maxRetries ?? 2)) {
        throw new ConnectionError(`the upload failed${response ? ` (${response.status})` : ''}`, attempt);
      }
      await this.#clock.sleep(500 * attempt);
    }
  }

  #fetch(url: string, init: RequestInit): Promise<Response> {
    return (this.#options.fetch ?? fetch)(url, init);
  }

  /** Sends a request, and repeats it while that may help. */
  async send<T>(method: string, path: string, args: string[], sent: Sent, options: RequestOptions): Promise<Raw<T>> {
    const query = queryOf(sent.query);
    const url = this.#base + fillPath(path, args) + (query && `?${query}`);
    const headers: Record<string, string> = {
      ...options.headers,
      Authorization: `Bearer ${this.#key}`,
      Accept: 'application/json',
      'User-Agent': `${this.#options.userAgent ?? ''} content-automation-typescript/${VERSION}`.trim(),
    };
    if (method !== 'GET') headers['Idempotency-Key'] = options.idempotencyKey ?? crypto.randomUUID();
    if (options.ifMatch) headers['If-Match'] = options.ifMatch;
    const init: RequestInit = { method, headers, redirect: 'manual' };
    if (sent.body !== undefined) {
      headers['Content-Type'] = 'application/json';
      init.body = JSON.stringify(sent.body);
    }
    const retries = options.maxRetries ?? this.#options.maxRetries ?? 2;
    for (let attempt = 1; ; attempt++) {
      const [result, pause] = await this.#attempt<T>(url, init, options, attempt);
      if (!(result instanceof Error)) return result;
      if (pause === undefined || attempt > retries) throw result;
      const backoff = Math.min(500 * 2 ** (attempt - 1), 8000);
      await this.#clock.sleep(pause * 1000 || backoff / 2 + Math.random() * (backoff / 2), options.signal);
    }
  }

  /** Sends a request once. The pause is undefined if it is not to be repeated, and 0 if the service does not say. */
  async #attempt<T>(url: string, init: RequestInit, options: RequestOptions, attempts: number): Promise<[Raw<T> | Error, number | undefined]> {
    const ended = AbortSignal.timeout(options.timeout ?? this.#options.timeout ?? 60000);
    const signal = options.signal ? AbortSignal.any([options.signal, ended]) : ended;
    let response: Response;
    let text: string;
    try {
      response = await this.#fetch(url, { ...init, signal });
      text = await response.text();
    } catch (cause) {
      if (options.signal?.aborted) throw options.signal.reason;
      if (ended.aborted) return [new TimeoutError('no answer in time', attempts), 0];
      return [new ConnectionError('no answer', attempts, { cause }), 0];
    }
    const { status, headers } = response;
    let body: { data?: T; error?: ErrorBody | null; request_id?: string; next_cursor?: string | null } | undefined;
    try {
      body = JSON.parse(text);
    } catch {
      body = undefined;
    }
    const requestId = body?.request_id ?? headers.get('X-Request-Id') ?? '';
    if (status >= 300 || body?.error) {
      const after = retryAfter(headers);
      const error = body?.error ?? { code: 'unknown', type: typeOf(status), message: `the answer is not of the API: ${status}` };
      const message = String(error.message).replaceAll(this.#key, `${this.#key.slice(0, 9)}…`);
      const failure = new (classOf(error.type))(status, { ...error, message }, requestId, after, attempts);
      const again = RETRIED.includes(status) || error.code === 'idempotency_in_progress';
      return [failure, again && (after ?? 0) <= MAX_RETRY_AFTER ? (after ?? 0) : undefined];
    }
    if (!body || typeof body !== 'object' || !('data' in body)) {
      return [new AnswerError('the answer cannot be read', status, requestId), 0];
    }
    const replayed = headers.get('Idempotent-Replayed') === 'true';
    return [{ data: body.data as T, status, headers, requestId, replayed, attempts, nextCursor: body.next_cursor ?? null }, 0];
  }
}

/** Reads the seconds of Retry-After. A time counts by the clock of the service. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get('Retry-After');
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - Date.parse(headers.get('Date') ?? new Date().toUTCString())) / 1000;
  return seconds >= 0 ? seconds : undefined;
}

function fillPath(path: string, args: string[]): string {
  let i = 0;
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = args[i++];
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new ConfigError(`${name} is empty`);
    return encodeURIComponent(value);
  });
}

/** Writes a query. Several values are separated by commas, and pairs are name[key]. */
function queryOf(query: object = {}): string {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    if (value instanceof Date) all.set(name, value.toISOString());
    else if (Array.isArray(value)) all.set(name, value.join(','));
    else if (typeof value === 'object') for (const [key, v] of Object.entries(value)) all.set(`${name}[${key}]`, String(v));
    else all.set(name, String(value));
  }
  return all.toString();
}
