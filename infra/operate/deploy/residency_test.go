package main

import (
	"strings"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate/catalog"
)

func settings(region string, everywhere bool, providers ...string) customer.Settings {
	return customer.Settings{Customer: "acme", Stage: "prod", Region: region, Providers: providers,
		Isolation: customer.Isolation{GlobalProfiles: everywhere}}
}

// where returns the place of a model in a table, or "" if it is in none.
func where(t *testing.T, s customer.Settings, model string) string {
	t.Helper()
	found := ""
	for _, r := range residents(s) {
		for _, id := range r.models {
			if id == model {
				if found != "" {
					t.Errorf("%s is in two rows", model)
				}
				found = r.place
			}
		}
	}
	return found
}

func TestWhereModelsProcessData(t *testing.T) {
	for name, c := range map[string]struct {
		of    customer.Settings
		model string
		want  string
	}{
		"in the region":    {settings("us-east-1", false, "bedrock"), "gpt-oss-120b", "us-east-1"},
		"in the geography": {settings("eu-central-1", true, "bedrock"), "claude-haiku-5.5", "AWS regions eu-*"},
		"anywhere, by the opt-in": {settings("sa-east-1", true, "bedrock"), "claude-haiku-5.5",
			"any AWS region in the world"},
		"nowhere without it": {settings("sa-east-1", false, "bedrock"), "claude-haiku-5.5", ""},
		"speech of AWS":      {settings("eu-central-1", false, "polly"), "polly-neural", "eu-central-1"},
		"outside AWS": {settings("eu-central-1", false, "fal"), "flux-pro-1.1",
			"as agreed with the operator; the API names no region"},
		"not set up": {settings("eu-central-1", false, "fal"), "nova-lite", ""},
	} {
		if got := where(t, c.of, c.model); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Each provider of the catalog is AWS or has an operator, and each kind has its data in given.
func TestTheTableKnowsAllProviders(t *testing.T) {
	for _, m := range catalog.Models(catalog.Filter{}) {
		if _, known := provider.FindRow(m.Provider); !known {
			t.Errorf("nothing is known of the provider %s", m.Provider)
		}
		if given[m.Kind] == "" {
			t.Errorf("nothing says what models of the kind %s are given", m.Kind)
		}
	}
}

func TestTheTableOfACustomer(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"residency", "-customer", "hooli"}, nil, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Data of hooli is stored in eu-west-1", "| AWS | AWS regions eu-* | yes |",
		"| AWS | eu-west-1 | no |", "Backups are copied to `arn:aws:backup:eu-central-1:",
		"All data is copied to eu-central-1 (hooli-prod-eu-central-1)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
	if err := run(t.Context(), []string{"residency", "-customer", "initech"}, nil, &out); err == nil || !strings.Contains(err.Error(), "no customer") {
		t.Errorf("a customer that is not there: %v", err)
	}
}

// A provider that is added to the table has its operator in the rows of residency.
func TestAnAddedProviderHasItsOperator(t *testing.T) {
	t.Cleanup(provider.AddRow(provider.Row{Name: "elsewhere", Operator: "Elsewhere, Inc.", Credential: "key"}))
	name, _, leaves := place(customer.Settings{}, catalog.Model{Provider: "elsewhere"})
	if name != "Elsewhere, Inc." || !leaves {
		t.Errorf("%s runs it, and data leaves the region: %v", name, leaves)
	}
}
