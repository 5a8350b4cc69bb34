package catalog

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// Plan is a subscription plan.
type Plan struct {
	// Id of the plan.
	ID string `json:"id" example:"enterprise"`
	// Display name.
	Name string `json:"name" example:"Enterprise"`
	// Price per month, in minor units of the currency.
	MonthlyPrice int64 `json:"monthly_price" example:"199900"`
	// Currency (ISO 4217).
	Currency string `json:"currency" example:"USD"`
	// Whether accounts on this plan may use the API.
	APIAccess bool `json:"api_access"`
	// Requests per minute of each key. Null without API access. An account may have other limits.
	RateLimits *RateLimits `json:"rate_limits"`
	// Credits included per month.
	IncludedCredits int64 `json:"included_credits" example:"100000"`
	// Features, for display.
	Features []string `json:"features" nullable:"false"`
}

// RateLimits are requests per minute, by kind of key.
type RateLimits struct {
	// Requests per minute of a test key.
	Test int `json:"test_per_minute" example:"60"`
	// Requests per minute of a live key.
	Live int `json:"live_per_minute" example:"600"`
}

//go:embed plans.json
var plansJSON []byte

var plans = sync.OnceValue(func() []Plan {
	var all []Plan
	if err := json.Unmarshal(plansJSON, &all); err != nil {
		panic(fmt.Sprintf("catalog: plans.json: %v", err)) // a test reads it
	}
	return all
})

// Plans returns the plans, the smallest first.
func Plans() []Plan { return slices.Clone(plans()) }
