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
	ID              string      `json:"id" doc:"Id of the plan" example:"enterprise"`
	Name            string      `json:"name" doc:"Display name" example:"Enterprise"`
	MonthlyPrice    int64       `json:"monthly_price" doc:"Price per month, in minor units of the currency" example:"199900"`
	Currency        string      `json:"currency" doc:"Currency (ISO 4217)" example:"USD"`
	APIAccess       bool        `json:"api_access" doc:"Whether accounts on this plan may use the API"`
	RateLimits      *RateLimits `json:"rate_limits" doc:"Requests per minute of each key. Null without API access. An account may have other limits"`
	IncludedCredits int64       `json:"included_credits" doc:"Credits included per month" example:"100000"`
	Features        []string    `json:"features" nullable:"false" doc:"Features, for display"`
}

// RateLimits are requests per minute, by kind of key.
type RateLimits struct {
	Test int `json:"test" doc:"Requests per minute of a test key" example:"60"`
	Live int `json:"live" doc:"Requests per minute of a live key" example:"600"`
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
