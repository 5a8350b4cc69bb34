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
