import type { ErrorBody, ErrorCode, ErrorDetail, ErrorType } from './types.gen.js';

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

/** A request that took too long. */
export class TimeoutError extends ConnectionError {}

/** An answer that is not as the API describes it. */
export class AnswerError extends ContentAutomationError {
  constructor(message: string, readonly status: number, readonly requestId: string) {
    super(`${message} (${status}, request_id ${requestId})`);
  }
}

/** The end of work that has failed or was canceled. */
export class FailedError extends ContentAutomationError {
  constructor(readonly state: string, readonly resource: unknown) {
    super(`the work has ended in the state ${state}`);
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
export const classOf = (type: string): typeof ApiError => classes[type] ?? ApiError;
