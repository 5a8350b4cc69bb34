package errs

import (
	"fmt"
	"net/http"
	"slices"
)

// Info is the public description of a code, in addition to each single error: the page at the doc_url of an error.
type Info struct {
	Code   Code
	Status int
	Type   string
	// Meaning is one sentence.
	Meaning string
	// When and Fix describe the cause of the code and its correction, in Markdown.
	When, Fix string
	Retry     Retry
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

// Infos has all codes, in the order of Codes.
var Infos = []Info{
	{MalformedJSON, http.StatusBadRequest, invalidRequest,
		"The body of the request is not valid JSON.",
		"The body has a syntax error, is empty where one is needed, is not UTF-8, or names a member twice.",
		"Read the position in the message. Build the body with a JSON library instead of joining strings, and check " +
			"what is sent.",
		Never, `"message": "The body is not valid JSON: line 3, column 1: unexpected '}' after ','."`},
	{InvalidCursor, http.StatusBadRequest, invalidRequest,
		"The cursor does not belong to this list.",
		"The `cursor` was changed, or comes from a list with another path, filter or order.",
		"Send `next_cursor` of the previous page unchanged, with the same filters and order. Otherwise start without " +
			"a cursor.",
		Never, `"message": "The cursor does not belong to this list with these filters and this order. Send it with ` +
			`those of the request that returned it, or start without a cursor.", "param": "cursor"`},
	{InvalidHeader, http.StatusBadRequest, invalidRequest,
		"A header of the request has the wrong form.",
		"`Idempotency-Key` is empty, longer than 255 characters or sent twice, or `If-Match` is not an ETag in " +
			"double quotes.",
		"`param` names the header. Send an `Idempotency-Key` such as a UUID, and `If-Match` exactly as `ETag` had it.",
		Never, `"message": "Idempotency-Key must be one value of 1 to 255 characters, such as a UUID.", "param": ` +
			`"Idempotency-Key"`},

	{MissingAPIKey, http.StatusUnauthorized, authentication,
		"The request has no API key.",
		"The header `Authorization` is missing, or has another form than `Bearer svc_…`.",
		"Send `Authorization: Bearer svc_test_…` or `Authorization: Bearer svc_live_…` with every request. Some HTTP " +
			"clients drop the header when they follow a redirect: use the base URL exactly as it was given to you.",
		Never, `"message": "No API key was sent. Send it as ` + "`Authorization: Bearer svc_live_…`" +
			` (or svc_test_…)."`},
	{InvalidAPIKey, http.StatusUnauthorized, authentication,
		"The API key is not valid.",
		"The header has another form than `Bearer svc_…`, or the key is mistyped, unknown, expired or revoked. The " +
			"answer does not tell these apart.",
		"Compare the key with where it is stored. If it has ended, create another one. Calls without a valid key are " +
			"limited by address: stop repeating them.",
		Never, `"message": "The header Authorization has no valid API key. It must be ` + "`" + `Bearer svc_live_…` +
			"`" + ` or ` + "`" + `Bearer svc_test_…` + "`" +
			`: a key alone, or by another scheme such as Basic, is not read. In the right form, the key is mistyped, ` +
			`expired or revoked: create one in the account area or with POST /v1/api-keys."`},

	{InsufficientBalance, http.StatusPaymentRequired, payment,
		"The balance does not cover the price of the work.",
		"Live work reserves its price when it is accepted. Nothing was created or reserved.",
		"Compare `required_credits` and `available_credits` in `context`. Top up the account, order something that " +
			"costs less, or wait until running work releases its reserve. `POST /v1/balance/estimates` returns a " +
			"price in advance.",
		Never, `"message": "This costs 120 credits, and the balance is 45. Top up the account, or request something ` +
			`that costs less.", "context": {"required_credits": 120, "available_credits": 45}`},
	{SpendLimitReached, http.StatusPaymentRequired, payment,
		"The work would exceed the key's limit of spending in this month, or on this day.",
		"The key has `spend_limit_credits`, which holds for each calendar month (UTC), or a mandate with " +
			"`credits_a_day`. Nothing was created or reserved.",
		"Raise the limit of the key with a key that may do so, use another key, or wait for the next month. If " +
			"`context` names a mandate, wait until `day_ends_at`, or ask a person of the account.",
		Never, `"message": "This costs 120 credits. The API key may spend 1000 a month and has spent 950. Raise its ` +
			`limit, use another key, or wait for the next month (UTC).", "context": {"spend_limit_credits": 1000, ` +
			`"required_credits": 120, "available_credits": 50}`},

	{InsufficientScope, http.StatusForbidden, permission,
		"The key lacks the scope of the operation.",
		"Each operation needs one scope. The reference names it.",
		"Use a key that has the scope in the message, or add the scope to this one with a key that has it.",
		Never, `"message": "This key does not have the scope content:write. Use a key that has it."`},
	{PlanNotAllowed, http.StatusForbidden, permission,
		"The plan of the account does not include the API.",
		"The account is not on the enterprise plan.",
		"Ask the owner of the account to change the plan.",
		Never, `"message": "The API is part of the enterprise plan, and this account is on another plan. Ask its ` +
			`owner to change the plan."`},
	{IPNotAllowed, http.StatusForbidden, permission,
		"Requests from this address are not allowed.",
		"The account or the key has a list of allowed addresses, and the caller's address is not on it. Both lists " +
			"must agree.",
		"Add the address, or its network, to the `ip_allow_list` of the account and of the key. Behind a proxy or " +
			"NAT the address is that of the proxy.",
		Never, `"message": "Requests from this address are not allowed. Add it to the IP allow-lists of the account ` +
			`and of the key."`},
	{ScopeEscalation, http.StatusForbidden, permission,
		"The key would grant more than it has.",
		"A key can create, widen or rotate only keys that end up no wider than itself, in scopes, addresses, expiry " +
			"and limit of spending. A webhook may receive only events that its creator may read.",
		"Use a key that has everything that is granted, or grant less.",
		Never, `"message": "The calling key does not have the scope studio:use, so it cannot grant it. Use a key ` +
			`that has it.", "param": "/scopes"`},
	{PersonRequired, http.StatusForbidden, permission,
		"Only people may do this, not the API key.",
		"The operation manages the people of the account, which no scope of a key permits. Or the mandate of the key " +
			"leaves this to people: its `needs_person` has publish, spend, delete or invite.",
		"Sign in to the account area, and do it there. An agent shows its user what it has prepared, and where.",
		Never, `"message": "Only a person who has signed in to the account area may do this. API keys cannot manage ` +
			`people, whatever their scopes."`},

	{ProfileNotAllowed, http.StatusForbidden, permission,
		"The key is bound to profiles, and the operation concerns the whole account.",
		"A key with `profile_ids` reaches only what belongs to these profiles. Keys, profiles, the audit log, the " +
			"service levels and the sandbox as a whole belong to the account.",
		"Use a key of the account that is not bound to profiles.",
		Never, `"message": "This concerns the whole account, and the API key is bound to profiles. Use a key without ` +
			`profile_ids."`},

	{OutsideMandate, http.StatusForbidden, permission,
		"The mandate of the key does not permit this.",
		"The mandate names other `platforms`, the time of publication is in its `quiet_hours`, or its `until` is " +
			"past. `member` in `context` tells which.",
		"Choose another account, or a time from `from` of `context` on. People change and end mandates in the " +
			"account area.",
		Never, `"message": "The mandate key_01h455vb4pex5vsknk084sn02q:3 of the API key permits publishing on ` +
			`telegram, not on instagram. Choose other accounts, or ask a person of the account to publish there.", ` +
			`"context": {"mandate": "key_01h455vb4pex5vsknk084sn02q:3", "member": "platforms", "from": null}`},

	{NotFound, http.StatusNotFound, invalidRequest,
		"There is no such resource.",
		"The id does not exist, was deleted, is malformed, or belongs to another account or the other mode. A test " +
			"key does not see live data, nor a live key test data.",
		"Check the id and the mode of the key. Remove a deleted resource from your own records.",
		Never, `"message": "No content item has the id \"cnt_01h455vb4pex5vsknk084sn02q\" for this key's account and ` +
			`mode."`},
	{UnknownPath, http.StatusNotFound, invalidRequest,
		"There is no such path.",
		"The path is misspelled, lacks `/v1`, or ends with a slash.",
		"Compare the path with the reference.",
		Never, `"message": "There is no such path. Compare it with the API reference at /api-docs/explorer."`},
	{MethodNotAllowed, http.StatusMethodNotAllowed, invalidRequest,
		"The path does not support the method.",
		"The path exists, but not with this method.",
		"`Allow` lists the methods of the path.",
		Never, `"message": "This path does not support the method PUT. It supports GET, HEAD, PATCH."`},

	{IdempotencyInProgress, http.StatusConflict, conflict,
		"The first request with this idempotency key is still running.",
		"The same request was sent twice at nearly the same time, or repeated before its answer.",
		"Wait for the first answer, or repeat the request: it then returns the first answer.",
		Later, `"message": "The first request with this Idempotency-Key is still running. Repeat the request in a ` +
			`second."`},
	{InvalidState, http.StatusConflict, conflict,
		"The state of the resource does not allow the action.",
		"For example, a content item that is published cannot be canceled, and a revoked key cannot be rotated. The " +
			"code also reports a reached maximum, such as that of webhooks.",
		"`context.state` is the state and `context.allowed` lists what is possible in it. Work moves on in the " +
			"background, so read the resource before you decide.",
		Reread, `"message": "The content item is generated. It can be canceled only while it is queued or ` +
			`generating.", "context": {"state": "generated", "allowed": ["delete", "regenerate"]}`},
	{StaleProposal, http.StatusConflict, conflict,
		"What the proposal changes has been changed since it was made.",
		"A proposal is applied only while the values that its patch replaces are those that it was made for. Changes " +
			"of other members of the factory do not matter.",
		"Read the factory, and ask for a new proposal.",
		Reread, `"message": "What this proposal changes has been changed since it was made for version 3 of the ` +
			`factory: its version is now 5. Diagnose it again for new proposals."`},
	{Duplicate, http.StatusConflict, conflict,
		"Something with the same unique value exists.",
		"For example, a product with the same `sku` in the same factory.",
		"Change the existing resource, or choose another value. `param` names the member.",
		Never, `"message": "The factory already has a product with this sku.", "param": "/sku"`},
	{QuoteUsed, http.StatusConflict, conflict,
		"The quote was used by another call.",
		"A quote holds its price for one call. A repeat of that call with its `Idempotency-Key` gets the first answer.",
		"Read the quote: `created_ids` names what was created with it. To create the same once more, quote the " +
			"rehearsal again.",
		Never, `"message": "The quote qte_01h455vb4pex5vsknk084sn02q was used at 2026-11-27T09:00:00Z. Quote the ` +
			`rehearsal again to create the same once more.", "param": "/quote_id"`},

	{VersionMismatch, http.StatusPreconditionFailed, conflict,
		"The resource has changed since you read it.",
		"The ETag in `If-Match` is not the current one.",
		"Read the resource again, apply your change to what it is now, and send its new ETag.",
		Reread, `"message": "The resource has changed: its version is now 4. Read it again, and repeat the change ` +
			`with its ETag."`},
	{BodyTooLarge, http.StatusRequestEntityTooLarge, invalidRequest,
		"The body is larger than 256 KiB.",
		"Bodies carry JSON only. Files do not belong in them.",
		"Upload files with `POST /v1/media`, and send their ids. Split a batch that is too large.",
		Never, `"message": "The body is larger than 256 KiB. Upload larger files with POST /v1/media."`},
	{UnsupportedMediaType, http.StatusUnsupportedMediaType, invalidRequest,
		"The body is not sent as JSON.",
		"`Content-Type` is missing or another one, or the body is compressed.",
		"Send `Content-Type: application/json`; for PATCH also `application/merge-patch+json`. Do not compress the " +
			"body.",
		Never, `"message": "The body is not JSON. Send it with ` + "`Content-Type: application/json`" + `."`},

	{ValidationFailed, http.StatusUnprocessableEntity, invalidRequest,
		"A member or parameter of the request is not valid.",
		"A value has the wrong type, length or form, a required member is missing, or a name is unknown. Unknown " +
			"names are refused, so that a misspelled one is never ignored.",
		"`details` has an entry for each fault; `param` and `message` repeat the first. `param` is a JSON pointer " +
			"into the body, or the name of a parameter.",
		Never, `"message": "/name: is required", "param": "/name", "details": [{"param": "/name", "message": "is ` +
			`required"}]`},
	{IdempotencyKeyReused, http.StatusUnprocessableEntity, invalidRequest,
		"The idempotency key was used for another request.",
		"Within 24 hours, the same `Idempotency-Key` was sent with another method, path or body.",
		"Make a new key for each new request. Repeat a request only with exactly the same body.",
		Never, `"message": "This Idempotency-Key was used within 24 hours for another request: another path, query ` +
			`or body. Use a new key for a new request.", "param": "Idempotency-Key"`},
	{WrongFactoryType, http.StatusUnprocessableEntity, invalidRequest,
		"The type of the factory does not allow this.",
		"Only factories of the type `seller` have products and promotions.",
		"Use a factory of the right type.",
		Never, `"message": "Only a factory of the type seller has products."`},
	{UnsupportedModel, http.StatusUnprocessableEntity, invalidRequest,
		"The model cannot do what was asked.",
		"The model does not exist, is retired, is of another kind, or does not support the language, length or shape.",
		"`GET /v1/catalog/models` lists the models and what each can do. Leave `model` out to use the default.",
		Never, `"message": "No model has the id \"sora-9\".", "param": "/model"`},
	{UnsupportedMedia, http.StatusUnprocessableEntity, invalidRequest,
		"A file that the request refers to cannot be used.",
		"The file cannot be fetched, is not of an accepted format, or is too large or too long.",
		"The message says what is wrong with it. Convert or shorten the file, or upload it with `POST /v1/media`, " +
			"where it is checked once.",
		Never, `"message": "The recording is 95.0 seconds long; the model hedra-character-3 speaks at most 60.", ` +
			`"param": "/input/audio_url"`},

	{RuleViolated, http.StatusUnprocessableEntity, invalidRequest,
		"A rule of law forbids the content in the region where it is published.",
		"The `region` of the factory, or else of its profile, has a rule that the content would violate at its time: " +
			"such as a reduction that is computed from another price than the lowest of 30 days, or advertising on a " +
			"platform where it is forbidden. Nothing was created, scheduled or reserved.",
		"`context` names the rule, its jurisdiction, its first day and its source, and `mend` says what to change. " +
			"`POST /v1/publishing/validate` finds such violations before, for any time in `at`.",
		Never, `"message": "/discount/value: is 20 percent, and the real reduction is 11 percent: the lowest price ` +
			`in the 30 days before the promotion is 90.00 EUR (Directive 98/6/EC, Article 6a; CJEU C-330/23). Send a ` +
			`discount of the kind amount.", "param": "/discount/value", "context": {"rule": "eu_prior_price", ` +
			`"jurisdiction": "EU", "since": "2022-05-28", "source": "Directive 98/6/EC, Article 6a; CJEU C-330/23", ` +
			`"mend": "Send a discount of the kind amount."}`},

	{RateLimited, http.StatusTooManyRequests, rateLimit,
		"Too many requests, or too much work that failed.",
		"The key or the account has used up its requests for this minute, a webhook its tests or replays, or an " +
			"address sent too many calls without a valid key. Live work that failed or was canceled has a limit for " +
			"each day as well.",
		"Wait for `Retry-After`. `RateLimit` in every answer shows what is left: spread requests before it reaches " +
			"0. Use webhooks instead of polling.",
		Later, `"message": "This key has reached its limit of requests per minute. Wait for the time in Retry-After, ` +
			`and spread requests out.", "context": {"limit": 60, "window_seconds": 60}`},
	{QueueFull, http.StatusTooManyRequests, rateLimit,
		"Too much work is waiting.",
		"The account already has the maximum of work that is queued or running in this mode, which is 1,000; or the " +
			"provider of the model has more requests to answer than it can before this one is due. Nothing was " +
			"created or reserved.",
		"Wait until some of it has ended, for the time in Retry-After, or choose another model. Events report each " +
			"result.",
		Later, `"message": "This account already has 1000 pieces of work waiting, which is the maximum. Wait until ` +
			`some have ended. Nothing was created or spent."`},

	{Internal, http.StatusInternalServerError, api,
		"Something went wrong on our side.",
		"The fault was recorded.",
		"Repeat the request after a moment. If it persists, send the `request_id` to support.",
		Again, `"message": "Something went wrong on our side. Repeat the request with the same Idempotency-Key; if ` +
			`it persists, send the request_id to support."`},
	{ProviderUnavailable, http.StatusServiceUnavailable, api,
		"Something that the request needs is not available at the moment.",
		"A provider of generations or another part of the service does not answer or is busy, or many requests " +
			"change the same resource.",
		"Repeat the request after a moment.",
		Later, `"message": "Other requests are changing the same resource. Repeat the request with the same ` +
			`Idempotency-Key in a second."`},
	{Timeout, http.StatusGatewayTimeout, api,
		"The request took too long.",
		"It may have had its effect all the same.",
		"Repeat it with the same `Idempotency-Key`: if it had its effect, you get its answer. Where the message says " +
			"that it has failed, use a new key.",
		Again, `"message": "The request took too long. Repeat it with the same Idempotency-Key."`},
}
