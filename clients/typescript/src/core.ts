import {
  AnswerError, classOf, ConfigError, ConnectionError, FailedError, TimeoutError, typeOf, WaitTimeoutError,
} from './errors.js';
import { List, type Pages } from './pages.js';
import type { ErrorBody, Work } from './types.gen.js';

/** The version of this package. */
export const VERSION = '1.0.0';

/** The options of a client. */
export interface ClientOptions {
  /** The API key: svc_live_… or svc_test_…. The default is the variable SVC_API_KEY. */
  apiKey?: string | undefined;
  /** The base URL of the API, such as https://api.example.com. The default is the variable BASE_URL. */
  baseUrl?: string | undefined;
  /** Sends a live key to a base URL without https too, such as http://sandbox:8080 of the sandbox. */
  allowInsecure?: boolean | undefined;
  /** How often a request is repeated. The default is 2. */
  maxRetries?: number | undefined;
  /** The milliseconds that an attempt may take. The default is 60000. */
  timeout?: number | undefined;
  /** Headers of every request. Those of a call replace them. */
  headers?: Record<string, string> | undefined;
  /** Is called after every attempt, such as (entry) => console[entry.level](entry.message). */
  log?: ((entry: LogEntry) => void) | undefined;
  /** The function that sends requests. The default is the global fetch. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** The name of the program, for the header User-Agent. */
  userAgent?: string | undefined;
  /** Waits, and returns the time: for tests. */
  clock?: { now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void> } | undefined;
}

/** What an attempt of a request came to. It has neither the key nor the query and the bodies. */
export interface LogEntry {
  /** `warn` for what failed, and for what ends: see deprecation. */
  level: 'info' | 'warn';
  /** The entry as a line, such as `GET /v1/me: 200 in 41 ms (req_…)`. */
  message: string;
  method: string;
  path: string;
  attempt: number;
  milliseconds: number;
  /** Absent without an answer. */
  status?: number;
  requestId?: string;
  /** The error of an attempt that failed. */
  error?: Error;
  /** The milliseconds until the request is repeated. Absent if it is not. */
  pause?: number;
  /** The headers Deprecation and Sunset: what the call uses ends, at the time of the second. */
  deprecation?: string;
  sunset?: string;
}

/** The options of a call. */
export interface RequestOptions {
  /** By default each call has a new key, which its repeats share. */
  idempotencyKey?: string | undefined;
  /** Makes a change only if the resource still has this version, or ETag. */
  ifMatch?: string | number | undefined;
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
  timeout?: number | undefined;
  maxRetries?: number | undefined;
}

/** The options of a call that waits for work, which may have the states S. */
export interface WaitOptions<S extends string = string> extends RequestOptions {
  /** The states to wait for, instead of all in which the work has succeeded. */
  until?: readonly S[] | undefined;
  /** The greatest pause between requests in milliseconds. The default is 10000. */
  interval?: number | undefined;
  /** The milliseconds after which waiting ends with an error. The default is 15 minutes. */
  waitAtMost?: number | undefined;
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

/** What a request has beside its path. */
export interface Sent {
  query?: object | undefined;
  body?: unknown;
}

/** When work has ended, and the parameters of the call that reads it. */
export type Rule = readonly [member: string, done: readonly string[], failed: readonly string[], query?: object | undefined];

const MAX_RETRY_AFTER = 60;
const RETRIED = [408, 429, 500, 502, 503, 504];

const variables = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process;

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => (clearTimeout(timer), reject(signal?.reason));
    const timer = setTimeout(() => (signal?.removeEventListener('abort', stop), resolve()), ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Refuses a value of a configuration that a file with other line breaks may have left white space on. */
export function bare(name: string, value: string | undefined): void {
  if (value?.trim() !== value) throw new ConfigError(`the ${name} has a space or a line break at its start or end`);
}

/** Sends requests. The key is in a private field, which nothing prints. */
export class Core {
  readonly #key: string;
  readonly #base: string;
  readonly #options: ClientOptions;
  readonly #clock: NonNullable<ClientOptions['clock']>;

  constructor(options: ClientOptions = {}) {
    const apiKey = options.apiKey ?? variables?.env?.['SVC_API_KEY']?.trim();
    const baseUrl = options.baseUrl ?? variables?.env?.['BASE_URL']?.trim();
    bare('API key', apiKey);
    bare('base URL', baseUrl);
    if (!apiKey) throw new ConfigError('the API key is empty: give the option apiKey, or set the variable SVC_API_KEY');
    if (!/^svc_(live|test)_[0-9A-Za-z]{49}$(?!\n)/.test(apiKey)) {
      throw new ConfigError('the API key is malformed: a key is svc_live_ or svc_test_ and 49 letters and digits');
    }
    if (!baseUrl) {
      throw new ConfigError('the base URL is missing: give the option baseUrl, or set the variable BASE_URL');
    }
    let url: URL;
    try {
      url = new URL(baseUrl);
    } catch {
      throw new ConfigError('the base URL must be a URL such as https://api.example.com');
    }
    if (!/^https?:$/.test(url.protocol) || /[?#]/.test(baseUrl) || url.username || url.password) {
      throw new ConfigError('the base URL must be a URL such as https://api.example.com');
    }
    const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
    if (url.protocol === 'http:' && apiKey.startsWith('svc_live_') && !local && !options.allowInsecure) {
      throw new ConfigError('the base URL must use https for a live key; for a sandbox, set the option allowInsecure');
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
    return new List((cursor) =>
      this.send<T[]>('GET', path, args, { query: cursor ? { ...query, cursor } : query }, options));
  }

  /** Reads a resource until its work has ended. */
  async wait<T>(path: string, args: string[], rule: Rule, options: WaitOptions = {}): Promise<T> {
    const start = this.#clock.now();
    for (let pause = 1000; ; pause *= 1.5) {
      const r = await this.send<T>('GET', path, args, { query: rule[3] }, options);
      const state = String((r.data as Record<string, unknown>)[rule[0]]);
      if ((options.until ?? rule[1]).includes(state)) return r.data;
      if (rule[2].includes(state)) throw new FailedError(state, r.data as Work);
      const after = retryAfter(r.headers);
      const next = after ? Math.min(after, MAX_RETRY_AFTER) * 1000 : Math.min(pause, options.interval ?? 10000);
      if (this.#clock.now() - start + next > (options.waitAtMost ?? 900000)) throw new WaitTimeoutError(state);
      await this.#clock.sleep(next, options.signal);
    }
  }

  /** Sends a request to any service, such as storage, which gets no API key. */
  plain(url: string, init: RequestInit): Promise<Response> {
    return (this.#options.fetch ?? fetch)(url, init);
  }

  /** Waits as long as the repeat of a request that has failed. */
  async pause(attempt: number, signal?: AbortSignal): Promise<boolean> {
    if (attempt > (this.#options.maxRetries ?? 2)) return false;
    await this.#clock.sleep(backoff(attempt), signal);
    return true;
  }

  /** Sends a request, and repeats it while that may help. */
  async send<T>(method: string, path: string, args: string[], sent: Sent, options: RequestOptions): Promise<Raw<T>> {
    const query = queryOf(sent.query);
    const url = this.#base + fillPath(path, args) + (query && `?${query}`);
    const { idempotencyKey, ifMatch } = options;
    const init: RequestInit = { method, redirect: 'manual' };
    if (sent.body !== undefined) init.body = JSON.stringify(sent.body);
    init.headers = merged(
      this.#options.headers,
      method !== 'GET' && { 'Idempotency-Key': crypto.randomUUID() },
      options.headers,
      idempotencyKey != null && { 'Idempotency-Key': idempotencyKey },
      ifMatch !== undefined && { 'If-Match': etag(ifMatch) },
      sent.body !== undefined && { 'Content-Type': 'application/json' },
      {
        Authorization: `Bearer ${this.#key}`, Accept: 'application/json',
        'User-Agent': `${this.#options.userAgent ?? ''} content-automation-typescript/${VERSION}`.trim(),
      },
    );
    const retries = options.maxRetries ?? this.#options.maxRetries ?? 2;
    for (let attempt = 1; ; attempt++) {
      const start = this.#clock.now();
      const [result, after] = await this.#attempt<T>(url, init, options, attempt);
      const pause = after === undefined || attempt > retries ? undefined : after * 1000 || backoff(attempt);
      this.#log(method, new URL(url).pathname, result, attempt, this.#clock.now() - start, pause);
      if (!(result instanceof Error)) return result;
      if (pause === undefined) throw result;
      await this.#clock.sleep(pause, options.signal);
    }
  }

  /** Tells the hook what an attempt came to. */
  #log(method: string, path: string, result: Raw<unknown> | Error, attempt: number, ms: number, pause?: number): void {
    if (!this.#options.log) return;
    const failed = result instanceof Error;
    const { status, requestId } = result as Partial<Raw<unknown>>;
    const [deprecation, sunset] = ['Deprecation', 'Sunset'].map((name) => (failed ? null : result.headers.get(name)));
    const ends = deprecation || sunset ? `; what it uses is deprecated${sunset ? `, and ends at ${sunset}` : ''}` : '';
    const again = failed && pause !== undefined ? `; it is repeated in ${Math.round(pause)} ms` : '';
    this.#options.log({
      level: failed || ends ? 'warn' : 'info',
      message: `${method} ${path}: ${failed ? result.message : status} in ${Math.round(ms)} ms${
        !failed && requestId ? ` (${requestId})` : ''}${again}${ends}`,
      method, path, attempt, milliseconds: ms,
      ...(status !== undefined && { status }), ...(requestId && { requestId }),
      ...(failed && { error: result }), ...(failed && pause !== undefined && { pause }),
      ...(deprecation && { deprecation }), ...(sunset && { sunset }),
    });
  }

  /** Sends a request once. The pause is undefined if it is not to be repeated, and 0 if the service does not say. */
  async #attempt<T>(
    url: string, init: RequestInit, options: RequestOptions, attempts: number,
  ): Promise<[Raw<T> | Error, number | undefined]> {
    const ended = AbortSignal.timeout(options.timeout ?? this.#options.timeout ?? 60000);
    const signal = options.signal ? AbortSignal.any([options.signal, ended]) : ended;
    let response: Response;
    let text: string;
    try {
      response = await this.plain(url, { ...init, signal });
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
      const none = { code: 'unknown', type: typeOf(status), message: `the answer is not of the API: ${status}` };
      const error = { ...none, ...(typeof body?.error?.code === 'string' && body.error) };
      const message = String(error.message).replaceAll(this.#key, `${this.#key.slice(0, 9)}…`);
      const failure = new (classOf(error.type, status))(status, { ...error, message }, requestId, after, attempts);
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

/** Merges headers. Their names are the same in any case, and the last one counts. */
function merged(...all: (Record<string, string> | false | undefined)[]): Record<string, string> {
  const found = new Map<string, [string, string]>();
  for (const [name, value] of all.flatMap((one) => Object.entries(one || {}))) {
    if (value != null) found.set(name.toLowerCase(), [name, value]);
  }
  return Object.fromEntries(found.values());
}

/** Returns the milliseconds before a repeat: growing, and random. */
function backoff(attempt: number): number {
  const longest = Math.min(500 * 2 ** (attempt - 1), 8000);
  return longest / 2 + Math.random() * (longest / 2);
}

/** Writes a version as an ETag. */
function etag(version: string | number): string {
  return /^(\*|(W\/)?".*")$/.test(String(version)) ? String(version) : `"${version}"`;
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
    if (typeof value.toISOString === 'function') all.set(name, value.toISOString());
    else if (Array.isArray(value)) all.set(name, value.join(','));
    else if (typeof value === 'object') for (const [key, v] of Object.entries(value)) all.set(`${name}[${key}]`, String(v));
    else all.set(name, String(value));
  }
  return all.toString();
}
