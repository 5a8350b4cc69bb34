package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const someCredentials = `{"fal": {"key": "fal-7319"}, "replicate": {"token": "r8-7319"}}`

func TestCredentialsAreStoredAsTheyAreGiven(t *testing.T) {
	t.Setenv("PROVIDER_SECRET", "arn:of-the-environment")
	for _, args := range [][]string{{"set"}, {"set", "--secret", "arn:given"}} {
		var out bytes.Buffer
		var secret, value string
		cmd := providersCommand(&out, func(_ context.Context, s, v string) error {
			secret, value = s, v
			return nil
		})
		cmd.SetIn(strings.NewReader(someCredentials))
		cmd.SetArgs(args)
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := "arn:of-the-environment"
		if len(args) > 1 {
			want = args[2]
		}
		if secret != want || value != someCredentials || strings.Contains(out.String(), "7319") ||
			!strings.Contains(out.String(), "stored") {
			t.Errorf("%v stores %s in %s, and prints %q", args, value, secret, out.String())
		}
	}
}

func TestMistakesWithCredentialsAreToldWithoutThem(t *testing.T) {
	t.Setenv("PROVIDER_SECRET", "arn:of-the-environment")
	for input, says := range map[string]string{
		"":         "JSON object",
		"fal-7319": "JSON object",
		strings.Replace(someCredentials, "token", "key", 1): `replicate has the one member "token"`,
		`{"openai": {"key": "sk-7319"}}`:                    `"openai" is none of the providers`,
		strings.Repeat(" ", maxCredentials) + `{}`:          "longer than 64 KiB",
	} {
		var out bytes.Buffer
		cmd := root(&out, nil, nil, unaudited(t))
		cmd.SetIn(strings.NewReader(input))
		cmd.SetArgs([]string{"providers", "set"})
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(sentence(err), says) ||
			strings.Contains(sentence(err)+out.String(), "7319") {
			t.Errorf("%.40q: %v, printed %q", input, err, out.String())
		}
	}
	var out bytes.Buffer
	cmd := providersCommand(&out, func(context.Context, string, string) error { return errors.New("no route to host") })
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetIn(strings.NewReader(someCredentials))
	cmd.SetArgs([]string{"set"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || out.Len() > 0 {
		t.Errorf("nothing was stored: %v, printed %q", err, out.String())
	}
}

func TestApplicationsAreStoredInTheirSecret(t *testing.T) {
	t.Setenv("PROVIDER_SECRET", "arn:providers")
	t.Setenv("PLATFORM_SECRET", "arn:platforms")
	const someApps = `{"tiktok": {"client_id": "t", "client_secret": "s-7319"}}`
	for input, says := range map[string]string{someApps: "",
		`{"tiktok": {"client_id": "s-7319"}}`: "client_id and client_secret"} {
		var out bytes.Buffer
		var secret, value string
		cmd := platformsCommand(&out, func(_ context.Context, s, v string) error {
			secret, value = s, v
			return nil
		})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetIn(strings.NewReader(input))
		cmd.SetArgs([]string{"set"})
		err := cmd.ExecuteContext(t.Context())
		switch {
		case strings.Contains(out.String(), "7319"):
			t.Errorf("printed %q", out.String())
		case says == "" && (err != nil || secret != "arn:platforms" || value != someApps):
			t.Errorf("stores %s in %s: %v", value, secret, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "7319") || value != ""):
			t.Errorf("%s: %v", input, err)
		}
	}
}

func TestKeepPutsTheValueOfTheSecret(t *testing.T) {
	var put struct{ SecretId, SecretString string }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if target := r.Header.Get("X-Amz-Target"); target != "secretsmanager.PutSecretValue" {
			t.Errorf("asked for %s", target)
		}
		if err := json.NewDecoder(r.Body).Decode(&put); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, `{}`)
	}))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "a",
		"AWS_SECRET_ACCESS_KEY": "b", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": t.TempDir() + "/none", "AWS_SHARED_CREDENTIALS_FILE": t.TempDir() + "/none",
	} {
		t.Setenv(name, value)
	}
	if err := keep(t.Context(), "arn:x", someCredentials); err != nil {
		t.Fatal(err)
	}
	if put.SecretId != "arn:x" || put.SecretString != someCredentials {
		t.Errorf("put %+v", put)
	}
	if err := keep(t.Context(), "", someCredentials); err == nil ||
		!strings.Contains(err.Error(), "--secret or PROVIDER_SECRET") {
		t.Errorf("without a secret: %v", err)
	}
}
