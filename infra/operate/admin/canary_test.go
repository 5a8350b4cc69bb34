package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestTheTargetOfTheCanaryIsStored(t *testing.T) {
	const target = `{"base_url": "https://api.acme.example", "key": "svc_test_7319"}`
	for input, c := range map[string]struct{ secret, stored, says string }{
		target:            {"arn:canary", target, ""},
		`{}`:              {"arn:canary", `{}`, ""},
		target + " ":      {"", "", "name the secret"},
		`{"key": "7319"}`: {"arn:canary", "", "base_url and key"},
		strings.Replace(target, "svc_test", "svc_live", 1): {"arn:canary", "", "test key"},
		"7319": {"arn:canary", "", "JSON"},
	} {
		var out bytes.Buffer
		stored := ""
		cmd := canaryCommand(&out, func(_ context.Context, secret, value string) error {
			stored = value
			if secret != c.secret {
				t.Errorf("stored in %q", secret)
			}
			return nil
		})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetIn(strings.NewReader(input))
		cmd.SetArgs([]string{"set", "--secret", c.secret})
		err := cmd.ExecuteContext(t.Context())
		if stored != c.stored || (err == nil) != (c.says == "") || err != nil &&
			(!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "7319")) ||
			strings.Contains(out.String(), "7319") {
			t.Errorf("%s: stored %q, %v, printed %q", input, stored, err, out.String())
		}
	}
}

func TestOnlyACertificateIsStoredForCallers(t *testing.T) {
	for input, says := range map[string]string{`{}`: "no JSON such as", "7319": "no JSON such as",
		`{"certificate": "7319", "private_key": "7319"}`: "no PEM of the same key"} {
		cmd := callerCommand(&bytes.Buffer{}, func(context.Context, string, string) error {
			t.Errorf("%s is stored", input)
			return nil
		})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetIn(strings.NewReader(input))
		cmd.SetArgs([]string{"set", "--secret", "arn:caller"})
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "7319") {
			t.Errorf("%s: %v", input, err)
		}
	}
}
