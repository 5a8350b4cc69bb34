package cloud_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/seal/stored"
	"github.com/content-automation/api/pkg/cloud/secret"
)

var start = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// versions returns the versions of a value at some time after the start.
func versions(t *testing.T, v stored.Value, after time.Duration) []string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if v, err = stored.Parse(string(text)); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, b := range v.Versions(start.Add(after)) {
		all = append(all, string(b))
	}
	return all
}

func rotate(t *testing.T, v stored.Value, secret string, after time.Duration) stored.Value {
	t.Helper()
	next, err := v.Rotate(secret, start.Add(after))
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func TestASecretThatWasNeverRotatedIsItself(t *testing.T) {
	for _, text := range []string{"plain", `{"a":1}`, "{x", `"text"`, "123"} {
		v, err := stored.Parse(text)
		if err != nil || v.Secret != text {
			t.Errorf("%s: %+v, %v", text, v, err)
		}
	}
	if _, err := stored.Parse(""); err == nil {
		t.Error("an empty secret was taken")
	}
}

// kept is the time for which a version opens data after it has last sealed data.
const kept = 25 * time.Hour

func TestEveryFunctionKnowsAVersionBeforeItSeals(t *testing.T) {
	v := rotate(t, stored.Value{Secret: "one"}, "two", 0)
	for after, want := range map[time.Duration][]string{
		0: {"one", "two"}, stored.Delay - 1: {"one", "two"}, stored.Delay: {"two", "one"},
		// The value that the first sealed last is forgotten by then.
		stored.Delay + kept - 1: {"two", "one"}, stored.Delay + kept: {"two"},
	} {
		if got := versions(t, v, after); !slices.Equal(got, want) {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}
	if stored.Delay <= secret.Lifetime {
		t.Error("a function may have cached the value for longer")
	}
}

func TestRotationsInShortSuccessionEndNoVersionEarly(t *testing.T) {
	v := rotate(t, stored.Value{Secret: "one"}, "two", 0)
	if _, err := v.Rotate("three", start.Add(stored.Delay-1)); err == nil {
		t.Error("rotated before the last rotation was complete")
	}
	v = rotate(t, v, "three", stored.Delay)
	v = rotate(t, v, "four", 2*stored.Delay)
	for after, want := range map[time.Duration][]string{
		2 * stored.Delay: {"three", "four", "two", "one"}, 3 * stored.Delay: {"four", "three", "two", "one"},
		stored.Delay + kept: {"four", "three", "two"}, 2*stored.Delay + kept: {"four", "three"}, 3*stored.Delay + kept: {"four"},
	} {
		if got := versions(t, v, after); !slices.Equal(got, want) {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}
	if v = rotate(t, v, "five", 100*stored.Delay); len(v.Earlier) != 1 {
		t.Errorf("versions pile up: %+v", v.Earlier)
	}
}

func TestTheSecretIsReadOnceInFiveMinutes(t *testing.T) {
	reads, now := 0, start
	text, away := "one", error(nil)
	s := stored.Cached(func(context.Context) (string, error) { reads++; return text, away },
		func() time.Time { return now })
	for range 3 {
		if got, err := s(t.Context()); err != nil || len(got) != 1 || string(got[0]) != "one" {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if reads != 1 {
		t.Errorf("read %d times", reads)
	}
	text, now = "two", now.Add(secret.Lifetime)
	if got, err := s(t.Context()); err != nil || string(got[0]) != "two" || reads != 2 {
		t.Errorf("%q, %v after %d reads", got, err, reads)
	}
	away, now = errors.New("no route to host"), now.Add(secret.Lifetime)
	if got, err := s(t.Context()); err != nil || string(got[0]) != "two" {
		t.Errorf("the earlier value does not stay in use: %q, %v", got, err)
	}
	s = stored.Cached(func(context.Context) (string, error) { return "", away }, func() time.Time { return now })
	if _, err := s(t.Context()); errs.CodeOf(err) != errs.ProviderUnavailable {
		t.Errorf("%v", err)
	}
}
