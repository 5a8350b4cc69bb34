package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/cloud/secret"
)

func TestASecretShowsNothingOfItself(t *testing.T) {
	const value = "fal-key-7319"
	s := Secret{value}
	holder := struct {
		Name string
		Key  Secret
		Ptr  *Secret
		Map  map[Secret]Secret
	}{"fal", s, &s, map[Secret]Secret{s: s}}
	var shown []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		shown = append(shown, fmt.Sprintf(verb, s), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, []Secret{s}))
	}
	shown = append(shown, fmt.Sprint(s), fmt.Errorf("using %w and %v", io.EOF, s).Error())
	for _, v := range []any{s, &s, holder, []Secret{s}, map[string]any{"key": s}} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, string(text))
	}
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(h).Info("calling", "secret", s, "pointer", &s, "holder", holder, slog.Group("g", "secret", s))
	}
	for _, text := range append(shown, log.String()) {
		if strings.Contains(text, value) || strings.Contains(text, fmt.Sprintf("%x", value)) {
			t.Errorf("it is shown in %s", text)
		}
	}
	if !strings.Contains(log.String(), redacted) || s.Reveal() != value || s.IsZero() || !(Secret{}).IsZero() {
		t.Error("it is not itself")
	}
}

// source is a secret that can change, be away, and be counted.
type source struct {
	value string
	err   error
	reads int
}

func (s *source) read(context.Context) (string, error) {
	s.reads++
	return s.value, s.err
}

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newStore(value string) (*Credentials, *source, *clock) {
	src, c := &source{value: value}, &clock{time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
	return NewCredentials(src.read, c.now), src, c
}

// wantKey checks the credential of fal, and how often the secret was read so far.
func wantKey(t *testing.T, s *Credentials, src *source, key string, reads int) {
	t.Helper()
	got, err := s.Get(t.Context(), "fal")
	if err != nil || got.Reveal() != key || src.reads != reads {
		t.Errorf("got %q, %v after %d reads; want %q after %d", got.Reveal(), err, src.reads, key, reads)
	}
}

func TestACredentialIsKeptForAWhile(t *testing.T) {
	s, src, c := newStore(`{"fal": {"key": "one"}, "replicate": {"token": "r"}, "bedrock": {"key": "x"}, "heygen": {"token": "h"}, "elevenlabs": {"key": 7}}`)
	if src.reads != 0 {
		t.Error("read before it was wanted")
	}
	wantKey(t, s, src, "one", 1)
	for name, want := range map[string]string{"replicate": "r", "bedrock": "", "heygen": "", "elevenlabs": "",
		"nobody": ""} {
		if key, err := s.Key(name)(t.Context()); err != nil || key != want {
			t.Errorf("%s: %q, %v; want %q", name, key, err, want)
		}
	}
	src.value = `{"fal": {"key": "two"}}`
	c.at = c.at.Add(secret.Lifetime - 1)
	wantKey(t, s, src, "one", 1)
	c.at = c.at.Add(1)
	wantKey(t, s, src, "two", 2)
}

func TestASecretThatIsNone(t *testing.T) {
	for _, value := range []string{"", "sk-12345", `"sk-12345"`, `["sk-12345"]`, `{"fal": {"key": "sk-12345"`} {
		s, _, _ := newStore(value)
		_, err := s.Get(t.Context(), "fal")
		if err == nil || strings.Contains(err.Error(), "12345") {
			t.Errorf("%s: got %v", value, err)
		}
	}
	s, src, _ := newStore(`{}`)
	wantKey(t, s, src, "", 1)
}

func TestCheckTellsTheOperatorWhatIsWrong(t *testing.T) {
	if err := CheckCredentials(`{"fal": {"key": "a"}, "replicate": {"token": "b"}, "elevenlabs": {"key": "c"}, "heygen": {"key": "d"}}`); err != nil {
		t.Error(err)
	}
	for value, says := range map[string]string{
		`sk-12345`:                                   "JSON object",
		`{"fal": "sk-12345"}`:                        "JSON object",
		`{}`:                                         "no provider",
		`{"fall": {"key": "sk-12345"}}`:              `"fall" is none of`,
		`{"polly": {"key": "sk-12345"}}`:             `"polly" is none of`,
		`{"replicate": {"key": "sk-12345"}}`:         `one member "token"`,
		`{"fal": {"key": ""}}`:                       "not empty",
		`{"fal": {"key": "a", "extra": "sk-12345"}}`: `one member "key"`,
		`{"fal": {"key": "sk-12345\n"}}`:             "white space",
	} {
		if err := CheckCredentials(value); err == nil || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "12345") {
			t.Errorf("%s: got %v, want it to say %q", value, err, says)
		}
	}
	all, err := ParseCredentials(ExampleCredentials())
	if err != nil || CheckCredentials(ExampleCredentials()) != nil || len(all) != len(CredentialProviders()) {
		t.Errorf("the example is %s: %v", ExampleCredentials(), err)
	}
	if len(CredentialProviders()) != 4 {
		t.Errorf("credentials are needed by %v", CredentialProviders())
	}
}

func TestTheCredentialsAreThoseOfTheSecret(t *testing.T) {
	got, err := ParseCredentials(`{"fal": {"key": "f"}, "replicate": {"token": " r "}, "elevenlabs": {"token": "e"},
		"heygen": {"key": "h"}, "polly": {"key": "p"}}`)
	if err != nil || len(got) != 3 || got["fal"].Reveal() != "f" || got["replicate"].Reveal() != "r" ||
		got["heygen"].Reveal() != "h" {
		t.Errorf("got %d credentials, %v", len(got), err)
	}
}
