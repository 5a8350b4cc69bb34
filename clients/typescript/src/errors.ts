import type { ErrorBody, ErrorCode, ErrorDetail, ErrorType, Work } from './types.gen.js';

/** The base of all errors of this package. */
export class ContentAutomationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A client or a call that cannot be made. */
export class ConfigError extends ContentAutomationError {}

/** A webhook that is not to be trusted. */
export class SignatureError extends ContentAutomationError {}

/** A request without an answer. Make the same call with the same idempotency key again, if its effect matters. */
export class ConnectionError extends ContentAutomationError {
  constructor(message: string, readonly attempts: number, options?: ErrorOptions) {
    super(`${message} (attempts: ${attempts})`, options);
  }
}

/** Storage refused the file of an upload, or kept failing. The media stays pending: upload the file anew. */
export class UploadError extends ContentAutomationError {
  constructor(
    /** The HTTP status, and the code of storage, such as AccessDenied; empty if it named none. */
    readonly status: number,
    readonly code: string,
    readonly mediaId: string,
    readonly attempts: number,
  ) {
    const why = `${status}${code && ` ${code}`}`;
    super(`storage refused the file of ${mediaId}: ${why} (attempts: ${attempts}); upload it anew`);
  }
}

/** A request that took too long. */
export class TimeoutError extends ConnectionError {}

/** An answer that is not as the API describes it. */
export class AnswerError extends ContentAutomationError {
  constructor(message: string, readonly status: number, readonly requestId: string) {
    super(`${message} (${status}, request_id ${requestId})`);
  }
}

/** Why work has failed. */
export interface Failure {
  /** The machine-readable reason. */
  code: string;
  /** What happened, and what to do about it. */
  message: string;
  /** Whether the same work may succeed if it is asked for again, where the service says so. */
  retryable?: boolean;
}

/** The end of work that has failed, was rejected or canceled. */
export class FailedError extends ContentAutomationError {
  /** The reason. It is undefined if the resource has none, as canceled work. */
  readonly failure: Failure | undefined;

  /** Takes the state and the resource as it was read last. */
  constructor(readonly state: string, readonly resource: Work) {
    const { id, failure, reason } = resource as { id?: string; failure?: Failure | null; reason?: Failure | null };
    const why = failure ?? reason ?? undefined;
    super(`${id ?? 'the work'} has ended in the state ${state}${why ? `: ${why.code}: ${why.message}` : ''}`);
    this.failure = why;
  }

  /** The code of the failure, such as generation_failed. */
  get code(): string | undefined {
    return this.failure?.code;
  }
}

/** The end of waiting for work that has not ended. */
export class WaitTimeoutError extends ContentAutomationError {
  constructor(readonly state: string) {
    super(`the work is still in the state ${state}`);
  }
}

/** An error that the API returned. A newer service may have codes and types that this package does not know. */
export class ApiError extends ContentAutomationError {
  readonly code: ErrorCode;
  readonly type: ErrorType;
  /** The field that is wrong: a JSON pointer, or the name of a parameter or header. */
  readonly param: string | undefined;
  readonly details: ErrorDetail[];
  readonly docUrl: string | undefined;
  /** Data about the error, which depends on the code. */
  readonly context: Record<string, unknown> | undefined;

  constructor(
    readonly status: number,
    body: ErrorBody & { context?: Record<string, unknown> },
    readonly requestId: string,
    /** The seconds that the service asks to wait for. */
    readonly retryAfter: number | undefined,
    readonly attempts: number,
  ) {
    super(`${status} ${body.code}: ${body.message}${requestId && ` (request_id ${requestId})`}`);
    this.code = body.code;
    this.type = body.type;
    this.param = body.param;
    this.details = body.details ?? [];
    this.docUrl = body.doc_url;
    this.context = body.context;
  }
}

/** A request that is wrong: 400, 404, 405, 413, 415, 422. */
export class InvalidRequestError extends ApiError {}
/** A resource that does not exist, or is not one of the key: 404. */
export class NotFoundError extends InvalidRequestError {}
/** A key that is missing, wrong, expired or revoked: 401. */
export class AuthenticationError extends ApiError {}
/** A balance that does not suffice: 402. */
export class PaymentError extends ApiError {}
/** A key that may not: 403. */
export class PermissionError extends ApiError {}
/** A state or version that does not fit: 409, 412. */
export class ConflictError extends ApiError {}
/** Too many requests: 429. */
export class RateLimitError extends ApiError {}
/** A failure of the service: 5xx. */
export class ServerError extends ApiError {}

const classes: Record<string, typeof ApiError> = {
  invalid_request_error: InvalidRequestError,
  authentication_error: AuthenticationError,
  payment_error: PaymentError,
  permission_error: PermissionError,
  conflict_error: ConflictError,
  rate_limit_error: RateLimitError,
  api_error: ServerError,
};

/** Returns the type of an error whose body does not say it. */
export function typeOf(status: number): ErrorType {
  const types: Record<number, ErrorType> = {
    401: 'authentication_error', 402: 'payment_error', 403: 'permission_error', 409: 'conflict_error',
    412: 'conflict_error', 429: 'rate_limit_error',
  };
  return types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/** Returns the class of an error. */
export function classOf(type: string, status: number): typeof ApiError {
  return status === 404 && type === 'invalid_request_error' ? NotFoundError : (classes[type] ?? ApiError);
}
