package auth_test

import (
	"errors"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/cloud/seal"
)

func TestOnlyTheSecretOfTheSystemVouches(t *testing.T) {
	now := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	secret, want := seal.FixedSecret([]byte("secret")), auth.Browser{IP: "203.0.113.7", UserAgent: "Firefox", At: now}
	value, err := auth.SealVouch(t.Context(), secret, "usr_1", want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := auth.OpenVouch(t.Context(), secret, "usr_1", value, now.Add(5*time.Minute)); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for name, open := range map[string]func() (auth.Browser, error){
		"another person": func() (auth.Browser, error) { return auth.OpenVouch(t.Context(), secret, "usr_2", value, now) },
		"another secret": func() (auth.Browser, error) {
			return auth.OpenVouch(t.Context(), seal.FixedSecret([]byte("x")), "usr_1", value, now)
		},
		"no secret": func() (auth.Browser, error) { return auth.OpenVouch(t.Context(), nil, "usr_1", value, now) },
		"too late": func() (auth.Browser, error) {
			return auth.OpenVouch(t.Context(), secret, "usr_1", value, now.Add(5*time.Minute+1))
		},
		"damaged":    func() (auth.Browser, error) { return auth.OpenVouch(t.Context(), secret, "usr_1", "A"+value, now) },
		"an address": func() (auth.Browser, error) { return auth.OpenVouch(t.Context(), secret, "usr_1", "203.0.113.7", now) },
		"nothing":    func() (auth.Browser, error) { return auth.OpenVouch(t.Context(), secret, "usr_1", "", now) },
	} {
		if got, err := open(); !errors.Is(err, seal.ErrOpen) || got != (auth.Browser{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if value, err := auth.SealVouch(t.Context(), nil, "usr_1", want); err == nil {
		t.Errorf("without a secret: %s", value)
	}
}
