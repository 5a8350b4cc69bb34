package social_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/social"
)

func TestAnApplicationThatIsNotWholeIsLeftOut(t *testing.T) {
	all, err := social.ParseApps(`{"instagram": {"client_id": "i", "client_secret": "s-7319"}, "tiktok": {"client_id": "t"}, "youtube": {"client_secret": "s"}, "vk": {"client_id": "v"}, "telegram": {"client_id": "x"}}`)
	if err != nil || len(all) != 2 || all["instagram"].ID != "i" || all["instagram"].Secret.Reveal() != "s-7319" ||
		all["vk"].ID != "v" {
		t.Errorf("got %v, %v", all, err)
	}
	if _, err := social.ParseApps("s-7319"); err == nil || strings.Contains(err.Error(), "7319") {
		t.Errorf("got %v", err)
	}
}

func TestCheckTellsTheOperatorWhatIsWrong(t *testing.T) {
	for _, good := range []string{`{}`, `{"vk": {"client_id": "v"}}`,
		`{"tiktok": {"client_id": "t", "client_secret": "s"}, "youtube": {"client_id": "y", "client_secret": "s"}}`} {
		if err := social.CheckApps(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	all, err := social.ParseApps(social.ExampleApps())
	if err != nil || social.CheckApps(social.ExampleApps()) != nil || len(all) != len(social.AppPlatforms()) {
		t.Errorf("the example is %s: %v", social.ExampleApps(), err)
	}
	for value, says := range map[string]string{
		`s-7319`:                              "JSON object",
		`{"vk": "s-7319"}`:                    "JSON object",
		`{"telegram": {"token": "s-7319"}}`:   `"telegram" is none of the platforms`,
		`{"tiktok": {"client_id": "s-7319"}}`: "client_id and client_secret",
		`{"vk": {"client_id": "v", "client_secret": "s-7319"}}`:      "the application of vk has the members client_id",
		`{"tiktok": {"client_id": "", "client_secret": "s-7319"}}`:   "is empty",
		`{"tiktok": {"client_id": "t", "client_secret": "s-7319 "}}`: "white space",
	} {
		if err := social.CheckApps(value); err == nil || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "7319") {
			t.Errorf("%s: got %v, want it to say %q", value, err, says)
		}
	}
}

// An application may have scopes that the platform has granted beyond the usual ones.
func TestAnApplicationMayHaveScopes(t *testing.T) {
	value := `{"linkedin": {"client_id": "l", "client_secret": "s", "scopes": "openid w_organization_social"},
		"vk": {"client_id": "v", "hook_token": "h", "confirmations": "77=c0ffee"}}`
	if err := social.CheckApps(value); err != nil {
		t.Error(err)
	}
	if found, err := social.ParseApps(value); err != nil || found["linkedin"].Scopes != "openid w_organization_social" ||
		found["vk"].HookToken != "h" || found["vk"].Confirmations != "77=c0ffee" {
		t.Errorf("%+v, %v", found, err)
	}
	if err := social.CheckApps(`{"linkedin": {"client_id": "l", "client_secret": "s", "scopes": " "}}`); err == nil {
		t.Error("empty scopes were accepted")
	}
}

func TestTheSecretIsReadWhenItIsNeeded(t *testing.T) {
	reads, failure := 0, errors.New("no route to host")
	s := social.NewApps(func(context.Context) (string, error) {
		reads++
		return `{"vk": {"client_id": "v"}}`, failure
	}, time.Now)
	if _, err := s.Get(t.Context(), "vk"); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	failure = nil
	for range 3 {
		if app, err := s.Get(t.Context(), "vk"); err != nil || app.ID != "v" {
			t.Errorf("got %v, %v", app, err)
		}
	}
	if app, err := s.Get(t.Context(), "tiktok"); err != nil || app.ID != "" || reads != 2 {
		t.Errorf("got %v, %v after %d reads", app, err, reads)
	}
}
