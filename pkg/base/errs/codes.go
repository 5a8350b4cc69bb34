package errs

// Codes lists all codes, in the order of their statuses.
var Codes = []Code{
	MalformedJSON, InvalidCursor, InvalidHeader,
	MissingAPIKey, InvalidAPIKey,
	InsufficientBalance, SpendLimitReached,
	InsufficientScope, PlanNotAllowed, IPNotAllowed, ScopeEscalation, PersonRequired, ProfileNotAllowed,
	OutsideMandate,
	NotFound, UnknownPath,
	MethodNotAllowed,
	IdempotencyInProgress, InvalidState, StaleProposal, Duplicate, QuoteUsed,
	VersionMismatch,
	BodyTooLarge, UnsupportedMediaType,
	ValidationFailed, IdempotencyKeyReused, WrongFactoryType, UnsupportedModel, UnsupportedMedia,
	RuleViolated,
	RateLimited, QueueFull,
	Internal, ProviderUnavailable, Timeout,
}
