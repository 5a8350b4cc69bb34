package main_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/infra/local/terminal"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/base/tenant"
)

// A sandbox in a network of containers has an address that no browser returns to.
func TestTheDemoAccountIsMadeForEachAddress(t *testing.T) {
	for base, pages := range map[string]int{"http://127.0.0.1:8080": 2, "https://sandbox.example": 2,
		"http://sandbox:8080": 1, "http://host.docker.internal:8080": 1} {
		db := storetest.Open(t, time.Now)
		made, err := terminal.NewDemo(t.Context(), db, base, time.Now)
		if err != nil {
			t.Errorf("%s: %v", base, err)
			continue
		}
		a, _, err := account.NewService(db, time.Now).Get(t.Context(), tenant.Account(made.Account))
		if err != nil || len(a.ReturnURLs) != pages {
			t.Errorf("%s: %v, %v", base, a.ReturnURLs, err)
		}
	}
}
