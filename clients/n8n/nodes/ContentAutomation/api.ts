import type {
  IDataObject,
  IExecuteSingleFunctions,
  IHookFunctions,
  IHttpRequestOptions,
  IN8nHttpFullResponse,
  ILoadOptionsFunctions,
  JsonObject,
} from 'n8n-workflow';
import { NodeApiError, NodeOperationError, sleep } from 'n8n-workflow';

/** What sends requests: an item of an execution, a list in the editor, or the life of a trigger. */
export type Caller = IExecuteSingleFunctions | IHookFunctions | ILoadOptionsFunctions;

/** The body of every response. */
export interface Answer {
  data: IDataObject | IDataObject[] | null;
  error: ApiError | null;
  request_id: string;
  next_cursor?: string | null;
}

interface ApiError {
  code: string;
  message: string;
  param?: string;
  details?: Array<{ param?: string; message: string }>;
  doc_url?: string;
}

const CREDENTIAL = 'contentAutomationApi';
/** Addresses to which a live key is sent: of HTTPS, and of this machine. */
const SAFE = /^(https:|http:\/\/(localhost|127(\.\d+){3}|\[::1\])([:/]|$))/;
const TIMEOUT = 60_000;
const ATTEMPTS = 3;
const LONGEST_PAUSE = 60;
const REPEATED = [408, 429, 500, 502, 503, 504];

/**
 * Sends a request, and returns the body of the response. A request without an answer, and one that the service cannot
 * take now, is sent again: reading changes nothing, and all other requests have an idempotency key. A status that is
 * expected is no error.
 */
export async function call(caller: Caller, options: IHttpRequestOptions, expected: number[] = []): Promise<Answer> {
  const { apiKey, baseUrl } = await caller.getCredentials<{ apiKey: string; baseUrl: string }>(CREDENTIAL);
  if (apiKey.startsWith('svc_live_') && !SAFE.test(baseUrl)) {
    throw new NodeOperationError(caller.getNode(), 'The base URL of the credential must use https for a live key');
  }
  const request: IHttpRequestOptions = {
    timeout: TIMEOUT,
    ...options,
    baseURL: baseUrl.replace(/\/+$/, ''),
    json: true,
    disableFollowRedirect: true,
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
  };
  for (let attempt = 1; ; attempt++) {
    let response: IN8nHttpFullResponse | undefined;
    let failure: Error | undefined;
    try {
      response = (await caller.helpers.httpRequestWithAuthentication.call(caller, CREDENTIAL, {
        ...request,
      })) as IN8nHttpFullResponse;
    } catch (error) {
      failure = error as Error;
    }
    const answer = response?.body as Answer | undefined;
    const fine = response && (response.statusCode < 400 || expected.includes(response.statusCode));
    if (fine && isAnswer(answer)) return answer;
    const wait = pause(attempt, response);
    const again =
      !response || REPEATED.includes(response.statusCode) || answer?.error?.code === 'idempotency_in_progress';
    if (!again || attempt === ATTEMPTS || wait > LONGEST_PAUSE) throw problem(caller, response, failure);
    await sleep(wait * 1000);
  }
}

/**
 * Sends a request, and all further ones for a list. A cursor that came before would read the same pages for ever. The
 * caller may change options.qs between pages.
 */
export async function* pages(caller: Caller, options: IHttpRequestOptions): AsyncGenerator<Answer, void, undefined> {
  const seen = new Set<string>();
  for (;;) {
    const answer = await call(caller, options);
    yield answer;
    const cursor = answer.next_cursor;
    if (!cursor) return;
    if (seen.has(cursor)) {
      throw new NodeOperationError(caller.getNode(), 'The list has no end: next_cursor came before', {
        description: `Request ID: ${answer.request_id}`,
      });
    }
    seen.add(cursor);
    options.qs = { ...options.qs, cursor };
  }
}

function isAnswer(body: unknown): body is Answer {
  return typeof body === 'object' && body !== null && 'data' in body;
}

/** The seconds before the next attempt: as the service says, or growing and random. */
function pause(attempt: number, response?: IN8nHttpFullResponse): number {
  const told = Number(response?.headers['retry-after']);
  return told > 0 ? told : 2 ** (attempt - 2) * (1 + Math.random());
}

/** The error that the editor shows: the message of the API, the fields that are wrong, and the id of the request. */
function problem(caller: Caller, response?: IN8nHttpFullResponse, failure?: Error): Error {
  if (!response) {
    return new NodeApiError(caller.getNode(), { message: failure?.message ?? 'no answer' } as JsonObject, {
      message: 'The service did not answer',
      description: `${failure?.message ?? 'No answer'}. Check the base URL of the credential`,
    });
  }
  const body = response.body as Partial<Answer> | undefined;
  const error = body?.error;
  if (!error) {
    return new NodeApiError(caller.getNode(), { message: `status ${response.statusCode}` } as JsonObject, {
      message: `The answer is not one of the API (status ${response.statusCode})`,
      description: 'Check the base URL of the credential',
      httpCode: String(response.statusCode),
    });
  }
  const fields = error.details?.length
    ? error.details
    : error.param
      ? [{ param: error.param, message: error.message }]
      : [];
  const lines = fields.map(({ param, message }) => (param ? `${param}: ${message}` : message));
  lines.push(`Code: ${error.code}`, `Request ID: ${body?.request_id ?? ''}`);
  if (error.doc_url) lines.push(error.doc_url);
  const retryAfter = response.headers['retry-after'];
  if (retryAfter) lines.push(`Retry after ${String(retryAfter)} seconds`);
  return new NodeApiError(caller.getNode(), body as unknown as JsonObject, {
    message: error.message,
    description: lines.join('\n'),
    httpCode: String(response.statusCode),
  });
}

/** Puts values into the places of a path such as /v1/factories/{factory_id}. */
export function fill(path: string, value: (name: string) => unknown): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(value(name))));
}
