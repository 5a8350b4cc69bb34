package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil { // The folder of cdk.json, as for make.
		panic(err)
	}
	os.Exit(m.Run())
}

func TestAnOrder(t *testing.T) {
	o, err := read([]string{"-customer", "acme", "-stage", "staging", "-region", "us-east-1", "-arch", "x86_64"})
	if err != nil || o.Name() != "acme-staging-us-east-1" || o.Arch != "x86_64" || o.approval != "broadening" {
		t.Fatalf("%+v, %v", o, err)
	}
	if want := strings.Fields("-c customer=acme -c stage=staging -c region=us-east-1 -c arch=x86_64"); !slices.Equal(
		o.context, want) {
		t.Errorf("the CDK sees %v, want %v", o.context, want)
	}
	if o, err = read([]string{"-customer", "acme"}); err != nil || o.Name() != "acme-prod-eu-central-1" ||
		o.Arch != "arm64" {
		t.Errorf("by cdk.json: %+v, %v", o, err)
	}
}

func TestRefusedOrders(t *testing.T) {
	for says, args := range map[string][]string{
		"name an action":                      nil,
		"preflight, bootstrap, synth, deploy": {"list"},
		"no customer is given":                {"deploy"},
		"there is no customer":                {"deploy", "-customer", "initech"},
		"cannot have the stage local":         {"deploy", "-customer", "acme", "-stage", "local"},
		"is deployed by `make stack` alone":   {"destroy", "-customer", "local"},
	} {
		if err := run(t.Context(), args, strings.NewReader(""), io.Discard); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want it to say %q", args, err, says)
		}
	}
}

// Nothing is destroyed before the operator types the name of the deployment.
func TestDestroyIsConfirmed(t *testing.T) {
	o, err := read([]string{"-customer", "acme"})
	if err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]bool{"": false, "yes\n": false, "acme\n": false,
		"acme-prod-eu-central-1\n": true, " acme-prod-eu-central-1": true} {
		var out strings.Builder
		err := confirm(o, []string{"acme-prod-eu-central-1-api"}, strings.NewReader(typed), &out)
		if (err == nil) != want {
			t.Errorf("%q: %v", typed, err)
		}
		if !strings.Contains(out.String(), "acme-prod-eu-central-1-api in the account 111122223333") {
			t.Errorf("it asks %q", out.String())
		}
	}
	if err := destroy(t.Context(), o, strings.NewReader("no\n"), io.Discard); err == nil ||
		!strings.Contains(err.Error(), "nothing was destroyed") {
		t.Errorf("without the name: %v", err)
	}
}
