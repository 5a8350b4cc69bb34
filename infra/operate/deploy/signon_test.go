package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/content-automation/api/infra/app/customer"
)

func TestProvidersAreOfferedOnceThereIsAPool(t *testing.T) {
	o := order{Settings: customer.Settings{Customer: "acme", Stage: "prod", Region: "eu-central-1"}}
	d := &double{states: map[string]types.StackStatus{"acme-prod-eu-central-1-data": types.StackStatusCreateComplete}}
	offered := ""
	offer := func(pool, client string) error { offered += pool + " " + client + "\n"; return nil }
	if err := offerAll(t.Context(), o, d, offer); err != nil || offered != "" {
		t.Errorf("without a stack of the API: %q, %v", offered, err)
	}
	d.states["acme-prod-eu-central-1-api"] = types.StackStatusUpdateComplete
	if err := offerAll(t.Context(), o, d, offer); err != nil || offered != "pool client\n" {
		t.Errorf("%q, %v", offered, err)
	}
	err := offerAll(t.Context(), o, d, func(string, string) error { return errors.New("refused") })
	if err == nil || !strings.Contains(err.Error(), "the user pool pool: refused") {
		t.Errorf("a refusal is %v", err)
	}
}
