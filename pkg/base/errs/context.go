package errs

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
	// Credits that the API key may spend in a calendar month (UTC).
	SpendLimitCredits int64 `json:"spend_limit_credits"`
	// Credits that the request costs.
	RequiredCredits int64 `json:"required_credits"`
	// Credits that the API key can still spend in this month.
	AvailableCredits int64 `json:"available_credits"`
}

// RateContext is the data of rate_limited if calls are limited.
type RateContext struct {
	// Calls that are allowed in a window.
	Limit int `json:"limit"`
	// Length of the window in seconds.
	WindowSeconds int `json:"window_seconds"`
}
