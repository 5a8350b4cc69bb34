package errs

// StateContext is the data of invalid_state about a resource.
type StateContext struct {
	State   string   `json:"state" doc:"State that the resource is in"`
	Allowed []string `json:"allowed" nullable:"false" doc:"Actions that this state permits"`
}

// BalanceContext is the data of insufficient_balance.
type BalanceContext struct {
	RequiredCredits  int64 `json:"required_credits" doc:"Credits that the request costs"`
	AvailableCredits int64 `json:"available_credits" doc:"Credits of the account that can be spent"`
}

// SpendContext is the data of spend_limit_reached.
type SpendContext struct {
	SpendLimitCredits int64 `json:"spend_limit_credits" doc:"Credits that the API key may spend in a calendar month (UTC)"`
	RequiredCredits   int64 `json:"required_credits" doc:"Credits that the request costs"`
	AvailableCredits  int64 `json:"available_credits" doc:"Credits that the API key can still spend in this month"`
}

// RateContext is the data of rate_limited if calls are limited.
type RateContext struct {
	Limit         int `json:"limit" doc:"Calls that are allowed in a window"`
	WindowSeconds int `json:"window_seconds" doc:"Length of the window in seconds"`
}
