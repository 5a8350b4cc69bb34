package errs

import (
	"fmt"
	"net/http"
	"slices"
)

// Code is the machine-readable error code that callers see. Codes are only added: within /v1 none is renamed or
// reused.
type Code string

// The codes of the API, grouped by HTTP status. Infos describes each of them.
const (
	MalformedJSON Code = "malformed_json" // 400
	InvalidCursor Code = "invalid_cursor"
	InvalidHeader Code = "invalid_header"

	MissingAPIKey Code = "missing_api_key" // 401
	InvalidAPIKey Code = "invalid_api_key"

	InsufficientBalance Code = "insufficient_balance" // 402
	SpendLimitReached   Code = "spend_limit_reached"

	InsufficientScope Code = "insufficient_scope" // 403
	PlanNotAllowed    Code = "plan_not_allowed"
	IPNotAllowed      Code = "ip_not_allowed"
	ScopeEscalation   Code = "scope_escalation"
	PersonRequired    Code = "person_required"
	ProfileNotAllowed Code = "profile_not_allowed"
	OutsideMandate    Code = "outside_mandate"

	NotFound    Code = "not_found" // 404
	UnknownPath Code = "unknown_path"

	MethodNotAllowed Code = "method_not_allowed" // 405

	IdempotencyInProgress Code = "idempotency_in_progress" // 409
	InvalidState          Code = "invalid_state"
	StaleProposal         Code = "stale_proposal"
	Duplicate             Code = "duplicate"
	QuoteUsed             Code = "quote_used"

	VersionMismatch Code = "version_mismatch" // 412

	BodyTooLarge         Code = "body_too_large"         // 413
	UnsupportedMediaType Code = "unsupported_media_type" // 415

	ValidationFailed     Code = "validation_failed" // 422
	IdempotencyKeyReused Code = "idempotency_key_reused"
	WrongFactoryType     Code = "wrong_factory_type"
	UnsupportedModel     Code = "unsupported_model"
	UnsupportedMedia     Code = "unsupported_media"
	RuleViolated         Code = "rule_violated"

	RateLimited Code = "rate_limited" // 429
	QueueFull   Code = "queue_full"

	Internal            Code = "internal"             // 500
	ProviderUnavailable Code = "provider_unavailable" // 503
	Timeout             Code = "timeout"              // 504
)

// Info is the public description of a code, in addition to each single error: the page at the doc_url of an error.
type Info struct {
	Code   Code
	Status int
	Type   string
	Retry  Retry
	// Context is the zero value of the data that errors with the code have, or nil. HasContext reports that all of
	// them have it.
	Context    any
	HasContext bool
	// Meaning is one sentence.
	Meaning string
	// When and Fix describe the cause of the code and its correction, in Markdown.
	When, Fix string
	// Example has the members of an example error besides code, type and doc_url.
	Example string
}

// Retry is the advice on retrying a failed request.
type Retry string

// The kinds of Retry.
const (
	Never  Retry = "Do not repeat the request unchanged: the answer stays the same."
	Later  Retry = "Repeat the request after the seconds in `Retry-After`, with the same `Idempotency-Key`."
	Again  Retry = "Repeat the request with the same `Idempotency-Key`. It has its effect at most once."
	Reread Retry = "Read the resource, decide again, and send a new request."
)

// The types of errors.
const (
	invalidRequest = "invalid_request_error"
	authentication = "authentication_error"
	payment        = "payment_error"
	permission     = "permission_error"
	conflict       = "conflict_error"
	rateLimit      = "rate_limit_error"
	api            = "api_error"
)

// NoSuchPath is the message about a path outside of /v1 that there is not.
const NoSuchPath = "There is no such path. The paths of this API begin with /v1 and are described at /openapi.json. " +
	"Agents connect to /mcp, without a slash at its end."

// InfoOf returns the information of a code, that of internal for an unknown one.
func InfoOf(code Code) Info {
	at := slices.IndexFunc(Infos, func(i Info) bool { return i.Code == code })
	if at < 0 {
		return InfoOf(Internal)
	}
	return Infos[at]
}

// Response returns the body of an example response with the code, as JSON.
func (i Info) Response() []byte {
	return fmt.Appendf(nil, `{"data": null, "error": {"code": %q, %s, "type": %q, "doc_url": %q}, "request_id": `+
		`"1763812345678-6f9a4e7e"}`,
		i.Code, i.Example, i.Type, DocURL("https://api.example.com", i.Code))
}

// DocURL returns the address of the page about a code. Base is the base URL of the API, without a slash at its end.
func DocURL(base string, code Code) string { return base + "/api-docs/errors/" + string(code) }

// Infos describes each code, in the order of the constants.
var Infos = []Info{
	{
		Code: MalformedJSON, Status: http.StatusBadRequest, Type: invalidRequest, Retry: Never,
		Meaning: "The body of the request is not valid JSON.",
		When:    "The body has a syntax error, is empty where one is needed, is not UTF-8, or names a member twice.",
		Fix: "Read the position in the message. Build the body with a JSON library instead of joining strings, and " +
			"check what is sent.",
		Example: `"message": "The body is not valid JSON: line 3, column 1: unexpected '}' after ','."`,
	},
	{
		Code: InvalidCursor, Status: http.StatusBadRequest, Type: invalidRequest, Retry: Never,
		Meaning: "The cursor does not belong to this list.",
		When:    "The `cursor` was changed, or comes from a list with another path, filter or order.",
		Fix: "Send `next_cursor` of the previous page unchanged, with the same filters and order. Otherwise start " +
			"without a cursor.",
		Example: `"message": "The cursor does not belong to this list with these filters and this order. Send it ` +
			`with those of the request that returned it, or start without a cursor.", "param": "cursor"`,
	},
	{
		Code: InvalidHeader, Status: http.StatusBadRequest, Type: invalidRequest, Retry: Never,
		Meaning: "A header of the request has the wrong form.",
		When: "`Idempotency-Key` is empty, longer than 255 characters or sent twice, or `If-Match` is not an ETag in " +
			"double quotes.",
		Fix: "`param` names the header. Send an `Idempotency-Key` such as a UUID, and `If-Match` exactly as `ETag` " +
			"had it.",
		Example: `"message": "Idempotency-Key must be one value of 1 to 255 characters, such as a UUID.", "param": ` +
			`"Idempotency-Key"`,
	},

	{
		Code: MissingAPIKey, Status: http.StatusUnauthorized, Type: authentication, Retry: Never,
		Meaning: "The request has no API key.",
		When:    "The header `Authorization` is missing, or has another form than `Bearer svc_…`.",
		Fix: "Send `Authorization: Bearer svc_test_…` or `Authorization: Bearer svc_live_…` with every request. Some " +
			"HTTP clients drop the header when they follow a redirect: use the base URL exactly as it was given to " +
			"you.",
		Example: `"message": "No API key was sent. Send it as ` + "`Authorization: Bearer svc_live_…`" +
			` (or svc_test_…)."`,
	},
	{
		Code: InvalidAPIKey, Status: http.StatusUnauthorized, Type: authentication, Retry: Never,
		Meaning: "The API key is not valid.",
		When: "The header has another form than `Bearer svc_…`, or the key is mistyped, unknown, expired or revoked. " +
			"The answer does not tell these apart.",
		Fix: "Compare the key with where it is stored. If it has ended, create another one. Calls without a valid " +
			"key are limited by address: stop repeating them.",
		Example: `"message": "The header Authorization has no valid API key. It must be ` + "`" + `Bearer svc_live_…` +
			"`" + ` or ` + "`" + `Bearer svc_test_…` + "`" +
			`: a key alone, or by another scheme such as Basic, is not read. In the right form, the key is mistyped, ` +
			`expired or revoked: create one in the account area or with POST /v1/api-keys."`,
	},

	{
		Code: InsufficientBalance, Status: http.StatusPaymentRequired, Type: payment, Retry: Never,
		Context: BalanceContext{}, HasContext: true,
		Meaning: "The balance does not cover the price of the work.",
		When:    "Live work reserves its price when it is accepted. Nothing was created or reserved.",
		Fix: "Compare `required_credits` and `available_credits` in `context`. Top up the account, order something " +
			"that costs less, or wait until running work releases its reserve. `POST /v1/balance/estimates` returns " +
			"a price in advance.",
		Example: `"message": "This costs 120 credits, and the balance is 45. Top up the account, or request ` +
			`something that costs less.", "context": {"required_credits": 120, "available_credits": 45}`,
	},
	{
		Code: SpendLimitReached, Status: http.StatusPaymentRequired, Type: payment, Retry: Never,
		Context: SpendContext{}, HasContext: true,
		Meaning: "The work would exceed the key's limit of spending in this month, or on this day.",
		When: "The key has `spend_limit_credits`, which holds for each calendar month (UTC), or a mandate with " +
			"`credits_a_day`. Nothing was created or reserved.",
		Fix: "Raise the limit of the key with a key that may do so, use another key, or wait for the next month. If " +
			"`context` names a mandate, wait until `day_ends_at`, or ask a person of the account.",
		Example: `"message": "This costs 120 credits. The API key may spend 1000 a month and has spent 950. Raise ` +
			`its limit, use another key, or wait for the next month (UTC).", "context": {"spend_limit_credits": ` +
			`1000, "required_credits": 120, "available_credits": 50}`,
	},

	{
		Code: InsufficientScope, Status: http.StatusForbidden, Type: permission, Retry: Never,
		Meaning: "The key lacks the scope of the operation.",
		When:    "Each operation needs one scope. The reference names it.",
		Fix:     "Use a key that has the scope in the message, or add the scope to this one with a key that has it.",
		Example: `"message": "This key does not have the scope content:write. Use a key that has it."`,
	},
	{
		Code: PlanNotAllowed, Status: http.StatusForbidden, Type: permission, Retry: Never,
		Meaning: "The plan of the account does not include the API.",
		When:    "The account is not on the enterprise plan.",
		Fix:     "Ask the owner of the account to change the plan.",
		Example: `"message": "The API is part of the enterprise plan, and this account is on another plan. Ask its ` +
			`owner to change the plan."`,
	},
	{
		Code: IPNotAllowed, Status: http.StatusForbidden, Type: permission, Retry: Never,
		Meaning: "Requests from this address are not allowed.",
		When: "The account or the key has a list of allowed addresses, and the caller's address is not on it. Both " +
			"lists must agree.",
		Fix: "Add the address, or its network, to the `ip_allow_list` of the account and of the key. Behind a proxy " +
			"or NAT the address is that of the proxy.",
		Example: `"message": "Requests from this address are not allowed. Add it to the IP allow-lists of the ` +
			`account and of the key."`,
	},
	{
		Code: ScopeEscalation, Status: http.StatusForbidden, Type: permission, Retry: Never,
		Meaning: "The key would grant more than it has.",
		When: "A key can create, widen or rotate only keys that end up no wider than itself, in scopes, addresses, " +
			"expiry and limit of spending. A webhook may receive only events that its creator may read.",
		Fix: "Use a key that has everything that is granted, or grant less.",
		Example: `"message": "The calling key does not have the scope studio:use, so it cannot grant it. Use a key ` +
			`that has it.", "param": "/scopes"`,
	},
	{
		Code: PersonRequired, Status: http.StatusForbidden, Type: permission, Retry: Never,
		Meaning: "Only people may do this, not the API key.",
		When: "The operation manages the people of the account, which no scope of a key permits. Or the mandate of " +
			"the key leaves this to people: its `needs_person` has publish, spend, delete or invite.",
		Fix: "Sign in to the account area, and do it there. An agent shows its user what it has prepared, and where.",
		Example: `"message": "Only a person who has signed in to the account area may do this. API keys cannot ` +
			`manage people, whatever their scopes."`,
	},
	{
		Code: ProfileNotAllowed, Status: http.StatusForbidden, Type: permission, Retry: Never,
		Meaning: "The key is bound to profiles, and the operation concerns the whole account.",
		When: "A key with `profile_ids` reaches only what belongs to these profiles. Keys, profiles, the audit log, " +
			"the service levels and the sandbox as a whole belong to the account.",
		Fix: "Use a key of the account that is not bound to profiles.",
		Example: `"message": "This concerns the whole account, and the API key is bound to profiles. Use a key ` +
			`without profile_ids."`,
	},
	{
		Code: OutsideMandate, Status: http.StatusForbidden, Type: permission, Retry: Never,
		Context: MandateContext{}, HasContext: true,
		Meaning: "The mandate of the key does not permit this.",
		When: "The mandate names other `platforms`, the time of publication is in its `quiet_hours`, or its `until` " +
			"is past. `member` in `context` tells which.",
		Fix: "Choose another account, or a time from `from` of `context` on. People change and end mandates in the " +
			"account area.",
		Example: `"message": "The mandate key_01h455vb4pex5vsknk084sn02q:3 of the API key permits publishing on ` +
			`telegram, not on instagram. Choose other accounts, or ask a person of the account to publish there.", ` +
			`"context": {"mandate": "key_01h455vb4pex5vsknk084sn02q:3", "member": "platforms", "from": null}`,
	},

	{
		Code: NotFound, Status: http.StatusNotFound, Type: invalidRequest, Retry: Never,
		Meaning: "There is no such resource.",
		When: "The id does not exist, was deleted, is malformed, or belongs to another account or the other mode. A " +
			"test key does not see live data, nor a live key test data.",
		Fix: "Check the id and the mode of the key. Remove a deleted resource from your own records.",
		Example: `"message": "No content item has the id \"cnt_01h455vb4pex5vsknk084sn02q\" for this key's account ` +
			`and mode."`,
	},
	{
		Code: UnknownPath, Status: http.StatusNotFound, Type: invalidRequest, Retry: Never,
		Meaning: "There is no such path.",
		When:    "The path is misspelled, lacks `/v1`, or ends with a slash.",
		Fix:     "Compare the path with the reference.",
		Example: `"message": "There is no such path. Compare it with the API reference at /api-docs/explorer."`,
	},

	{
		Code: MethodNotAllowed, Status: http.StatusMethodNotAllowed, Type: invalidRequest, Retry: Never,
		Meaning: "The path does not support the method.",
		When:    "The path exists, but not with this method.",
		Fix:     "`Allow` lists the methods of the path.",
		Example: `"message": "This path does not support the method PUT. It supports GET, HEAD, PATCH."`,
	},

	{
		Code: IdempotencyInProgress, Status: http.StatusConflict, Type: conflict, Retry: Later,
		Meaning: "The first request with this idempotency key is still running.",
		When:    "The same request was sent twice at nearly the same time, or repeated before its answer.",
		Fix:     "Wait for the first answer, or repeat the request: it then returns the first answer.",
		Example: `"message": "The first request with this Idempotency-Key is still running. Repeat the request in a ` +
			`second."`,
	},
	{
		Code: InvalidState, Status: http.StatusConflict, Type: conflict, Retry: Reread,
		Context: StateContext{},
		Meaning: "The state of the resource does not allow the action.",
		When: "For example, a content item that is published cannot be canceled, and a revoked key cannot be " +
			"rotated. The code also reports a reached maximum, such as that of webhooks.",
		Fix: "`context.state` is the state and `context.allowed` lists what is possible in it. Work moves on in the " +
			"background, so read the resource before you decide.",
		Example: `"message": "The content item is generated. It can be canceled only while it is queued or ` +
			`generating.", "context": {"state": "generated", "allowed": ["delete", "regenerate"]}`,
	},
	{
		Code: StaleProposal, Status: http.StatusConflict, Type: conflict, Retry: Reread,
		Meaning: "What the proposal changes has been changed since it was made.",
		When: "A proposal is applied only while the values that its patch replaces are those that it was made for. " +
			"Changes of other members of the factory do not matter.",
		Fix: "Read the factory, and ask for a new proposal.",
		Example: `"message": "What this proposal changes has been changed since it was made for version 3 of the ` +
			`factory: its version is now 5. Diagnose it again for new proposals."`,
	},
	{
		Code: Duplicate, Status: http.StatusConflict, Type: conflict, Retry: Never,
		Meaning: "Something with the same unique value exists.",
		When:    "For example, a product with the same `sku` in the same factory.",
		Fix:     "Change the existing resource, or choose another value. `param` names the member.",
		Example: `"message": "The factory already has a product with this sku.", "param": "/sku"`,
	},
	{
		Code: QuoteUsed, Status: http.StatusConflict, Type: conflict, Retry: Never,
		Meaning: "The quote was used by another call.",
		When: "A quote holds its price for one call. A repeat of that call with its `Idempotency-Key` gets the " +
			"first answer.",
		Fix: "Read the quote: `created_ids` names what was created with it. To create the same once more, quote the " +
			"rehearsal again.",
		Example: `"message": "The quote qte_01h455vb4pex5vsknk084sn02q was used at 2026-11-27T09:00:00Z. Quote the ` +
			`rehearsal again to create the same once more.", "param": "/quote_id"`,
	},

	{
		Code: VersionMismatch, Status: http.StatusPreconditionFailed, Type: conflict, Retry: Reread,
		Meaning: "The resource has changed since you read it.",
		When:    "The ETag in `If-Match` is not the current one.",
		Fix:     "Read the resource again, apply your change to what it is now, and send its new ETag.",
		Example: `"message": "The resource has changed: its version is now 4. Read it again, and repeat the change ` +
			`with its ETag."`,
	},

	{
		Code: BodyTooLarge, Status: http.StatusRequestEntityTooLarge, Type: invalidRequest, Retry: Never,
		Meaning: "The body is larger than 256 KiB.",
		When:    "Bodies carry JSON only. Files do not belong in them.",
		Fix:     "Upload files with `POST /v1/media`, and send their ids. Split a batch that is too large.",
		Example: `"message": "The body is larger than 256 KiB. Upload larger files with POST /v1/media."`,
	},

	{
		Code: UnsupportedMediaType, Status: http.StatusUnsupportedMediaType, Type: invalidRequest, Retry: Never,
		Meaning: "The body is not sent as JSON.",
		When:    "`Content-Type` is missing or another one, or the body is compressed.",
		Fix: "Send `Content-Type: application/json`; for PATCH also `application/merge-patch+json`. Do not compress " +
			"the body.",
		Example: `"message": "The body is not JSON. Send it with ` + "`Content-Type: application/json`" + `."`,
	},

	{
		Code: ValidationFailed, Status: http.StatusUnprocessableEntity, Type: invalidRequest, Retry: Never,
		Meaning: "A member or parameter of the request is not valid.",
		When: "A value has the wrong type, length or form, a required member is missing, or a name is unknown. " +
			"Unknown names are refused, so that a misspelled one is never ignored.",
		Fix: "`details` has an entry for each fault; `param` and `message` repeat the first. `param` is a JSON " +
			"pointer into the body, or the name of a parameter.",
		Example: `"message": "/name: is required", "param": "/name", "details": [{"param": "/name", "message": "is ` +
			`required"}]`,
	},
	{
		Code: IdempotencyKeyReused, Status: http.StatusUnprocessableEntity, Type: invalidRequest, Retry: Never,
		Meaning: "The idempotency key was used for another request.",
		When:    "Within 24 hours, the same `Idempotency-Key` was sent with another method, path or body.",
		Fix:     "Make a new key for each new request. Repeat a request only with exactly the same body.",
		Example: `"message": "This Idempotency-Key was used within 24 hours for another request: another path, query ` +
			`or body. Use a new key for a new request.", "param": "Idempotency-Key"`,
	},
	{
		Code: WrongFactoryType, Status: http.StatusUnprocessableEntity, Type: invalidRequest, Retry: Never,
		Meaning: "The type of the factory does not allow this.",
		When:    "Only factories of the type `seller` have products and promotions.",
		Fix:     "Use a factory of the right type.",
		Example: `"message": "Only a factory of the type seller has products."`,
	},
	{
		Code: UnsupportedModel, Status: http.StatusUnprocessableEntity, Type: invalidRequest, Retry: Never,
		Meaning: "The model cannot do what was asked.",
		When: "The model does not exist, is retired, is of another kind, or does not support the language, length " +
			"or shape.",
		Fix: "`GET /v1/catalog/models` lists the models and what each can do. Leave `model` out to use the " +
			"default.",
		Example: `"message": "No model has the id \"sora-9\".", "param": "/model"`,
	},
	{
		Code: UnsupportedMedia, Status: http.StatusUnprocessableEntity, Type: invalidRequest, Retry: Never,
		Meaning: "A file that the request refers to cannot be used.",
		When:    "The file cannot be fetched, is not of an accepted format, or is too large or too long.",
		Fix: "The message says what is wrong with it. Convert or shorten the file, or upload it with `POST " +
			"/v1/media`, where it is checked once.",
		Example: `"message": "The recording is 95.0 seconds long; the model hedra-character-3 speaks at most 60.", ` +
			`"param": "/input/audio_url"`,
	},
	{
		Code: RuleViolated, Status: http.StatusUnprocessableEntity, Type: invalidRequest, Retry: Never,
		Context: RuleContext{}, HasContext: true,
		Meaning: "A rule of law forbids the content in the region where it is published.",
		When: "The `region` of the factory, or else of its profile, has a rule that the content would violate at its " +
			"time: such as a reduction that is computed from another price than the lowest of 30 days, or " +
			"advertising on a platform where it is forbidden. Nothing was created, scheduled or reserved.",
		Fix: "`context` names the rule, its jurisdiction, its first day and its source, and `mend` says what to " +
			"change. `POST /v1/publishing/validate` finds such violations before, for any time in `at`.",
		Example: `"message": "/discount/value: is 20 percent, and the real reduction is 11 percent: the lowest price ` +
			`in the 30 days before the promotion is 90.00 EUR (Directive 98/6/EC, Article 6a; CJEU C-330/23). Send a ` +
			`discount of the kind amount.", "param": "/discount/value", "context": {"rule": "eu_prior_price", ` +
			`"jurisdiction": "EU", "since": "2022-05-28", "source": "Directive 98/6/EC, Article 6a; CJEU C-330/23", ` +
			`"mend": "Send a discount of the kind amount."}`,
	},

	{
		Code: RateLimited, Status: http.StatusTooManyRequests, Type: rateLimit, Retry: Later,
		Context: RateContext{},
		Meaning: "Too many requests, or too much work that failed.",
		When: "The key or the account has used up its requests for this minute, a webhook its tests or replays, or " +
			"an address sent too many calls without a valid key. Live work that failed or was canceled has a limit " +
			"for each day as well.",
		Fix: "Wait for `Retry-After`. `RateLimit` in every answer shows what is left: spread requests before it " +
			"reaches 0. Use webhooks instead of polling.",
		Example: `"message": "This key has reached its limit of requests per minute. Wait for the time in ` +
			`Retry-After, and spread requests out.", "context": {"limit": 60, "window_seconds": 60}`,
	},
	{
		Code: QueueFull, Status: http.StatusTooManyRequests, Type: rateLimit, Retry: Later,
		Meaning: "Too much work is waiting.",
		When: "The account already has the maximum of work that is queued or running in this mode, which is 1,000; " +
			"or the provider of the model has more requests to answer than it can before this one is due. Nothing " +
			"was created or reserved.",
		Fix: "Wait until some of it has ended, for the time in Retry-After, or choose another model. Events report " +
			"each result.",
		Example: `"message": "This account already has 1000 pieces of work waiting, which is the maximum. Wait until ` +
			`some have ended. Nothing was created or spent."`,
	},

	{
		Code: Internal, Status: http.StatusInternalServerError, Type: api, Retry: Again,
		Meaning: "Something went wrong on our side.",
		When:    "The fault was recorded.",
		Fix:     "Repeat the request after a moment. If it persists, send the `request_id` to support.",
		Example: `"message": "Something went wrong on our side. Repeat the request with the same Idempotency-Key; if ` +
			`it persists, send the request_id to support."`,
	},

	{
		Code: ProviderUnavailable, Status: http.StatusServiceUnavailable, Type: api, Retry: Later,
		Meaning: "Something that the request needs is not available at the moment.",
		When: "A provider of generations or another part of the service does not answer or is busy, or many requests " +
			"change the same resource.",
		Fix: "Repeat the request after a moment.",
		Example: `"message": "Other requests are changing the same resource. Repeat the request with the same ` +
			`Idempotency-Key in a second."`,
	},

	{
		Code: Timeout, Status: http.StatusGatewayTimeout, Type: api, Retry: Again,
		Meaning: "The request took too long.",
		When:    "It may have had its effect all the same.",
		Fix: "Repeat it with the same `Idempotency-Key`: if it had its effect, you get its answer. Where the message " +
			"says that it has failed, use a new key.",
		Example: `"message": "The request took too long. Repeat it with the same Idempotency-Key."`,
	},
}

// Codes has all codes, in the order of their statuses.
var Codes = func() []Code {
	codes := make([]Code, len(Infos))
	for i, info := range Infos {
		codes[i] = info.Code
	}
	return codes
}()

// StateContext is the data of invalid_state about a resource.
type StateContext struct {
	// State that the resource is in.
	State string `json:"state"`
	// Actions that this state permits.
	Allowed []string `json:"allowed" nullable:"false"`
}

// BalanceContext is the data of insufficient_balance.
type BalanceContext struct {
	// Credits that the request costs.
	RequiredCredits int64 `json:"required_credits"`
	// Credits of the account that can be spent.
	AvailableCredits int64 `json:"available_credits"`
}

// SpendContext is the data of spend_limit_reached.
type SpendContext struct {
	// Credits that the API key may spend in a calendar month (UTC), or by its mandate on a day (UTC).
	SpendLimitCredits int64 `json:"spend_limit_credits"`
	// Credits that the request costs.
	RequiredCredits int64 `json:"required_credits"`
	// Credits that the API key can still spend in this month, or on this day.
	AvailableCredits int64 `json:"available_credits"`
	// Id of the mandate whose credits_a_day was reached. Absent: the limit is that of a month.
	Mandate string `json:"mandate,omitempty"`
	// Time at which the day of the mandate ends. Absent: the limit is that of a month.
	DayEndsAt string `json:"day_ends_at,omitempty" format:"date-time" example:"2027-01-16T00:00:00.000Z"`
}

// MandateContext is the data of outside_mandate about the limit that was reached.
type MandateContext struct {
	// Id of the mandate that does not permit the request.
	Mandate string `json:"mandate" example:"key_01h455vb4pex5vsknk084sn02q:3"`
	// Member of the mandate that does not permit the request.
	Member string `json:"member" enum:"platforms,quiet_hours,until"`
	// Time from which on the mandate permits it: the end of the quiet hours. Null for other limits.
	From *string `json:"from" format:"date-time" example:"2027-01-15T07:00:00.000Z"`
}

// RuleContext is the data of rule_violated.
type RuleContext struct {
	// Id of the rule.
	Rule string `json:"rule" format:"law-rule"`
	// Where the rule is in force: EU, or a country (ISO 3166-1).
	Jurisdiction string `json:"jurisdiction" example:"EU"`
	// First day on which the rule is in force there.
	Since string `json:"since" format:"date" example:"2022-05-28"`
	// Text of law that the rule follows.
	Source string `json:"source" example:"Directive 98/6/EC, Article 6a"`
	// What to change so that the request is within the rule.
	Mend string `json:"mend"`
}

// RateContext is the data of rate_limited if calls are limited.
type RateContext struct {
	// Calls that are allowed in a window.
	Limit int `json:"limit"`
	// Length of the window in seconds.
	WindowSeconds int `json:"window_seconds"`
}
