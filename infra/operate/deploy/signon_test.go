package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/operate/preflight"
)

func TestProvidersAreOfferedOnceThereIsAPool(t *testing.T) {
	o := order{Settings: customer.Settings{Customer: "acme", Stage: "prod", Region: "eu-central-1"}}
	made := map[string]map[string]string{"acme-prod-eu-central-1-data": {"UserPoolId": "pool"}}
	outputs := func(_ context.Context, stack string) (map[string]string, error) {
		if made[stack] == nil {
			return nil, preflight.ErrMissing
		}
		return made[stack], nil
	}
	offered := ""
	offer := func(pool, client string) error { offered += pool + " " + client + "\n"; return nil }
	if err := offerAll(t.Context(), o, outputs, offer); err != nil || offered != "" {
		t.Errorf("without a stack of the API: %q, %v", offered, err)
	}
	made["acme-prod-eu-central-1-api"] = map[string]string{"UserPoolClientId": "client"}
	if err := offerAll(t.Context(), o, outputs, offer); err != nil || offered != "pool client\n" {
		t.Errorf("%q, %v", offered, err)
	}
	err := offerAll(t.Context(), o, outputs, func(string, string) error { return errors.New("refused") })
	if err == nil || !strings.Contains(err.Error(), "the user pool pool: refused") {
		t.Errorf("a refusal is %v", err)
	}
}
