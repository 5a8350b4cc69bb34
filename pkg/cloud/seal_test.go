package cloud_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/content-automation/api/pkg/cloud/seal"
)

func open(t *testing.T, secret, salt, purpose string) *seal.Box {
	t.Helper()
	key, err := seal.Derive([]byte(secret), []byte(salt), purpose)
	if err != nil {
		t.Fatal(err)
	}
	b, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSealedDataOpensForTheSameKeyAndContextOnly(t *testing.T) {
	data := []byte("whsec_1234567890")
	sealed := open(t, "secret", "salt", "purpose").Seal(data, "owner")
	if bytes.Contains(sealed, data[:8]) {
		t.Errorf("readable: %q", sealed)
	}
	if got, err := open(t, "secret", "salt", "purpose").Open(sealed, "owner"); err != nil || !bytes.Equal(got, data) {
		t.Errorf("opened %q, %v", got, err)
	}
	damaged := bytes.Clone(sealed)
	damaged[len(damaged)/2] ^= 1
	for name, c := range map[string]struct {
		box     *seal.Box
		sealed  []byte
		context string
	}{
		"another secret":  {open(t, "other", "salt", "purpose"), sealed, "owner"},
		"another salt":    {open(t, "secret", "other", "purpose"), sealed, "owner"},
		"another purpose": {open(t, "secret", "salt", "other"), sealed, "owner"},
		"another context": {open(t, "secret", "salt", "purpose"), sealed, "other"},
		"damaged":         {open(t, "secret", "salt", "purpose"), damaged, "owner"},
		"cut":             {open(t, "secret", "salt", "purpose"), sealed[:5], "owner"},
		"empty":           {open(t, "secret", "salt", "purpose"), nil, "owner"},
	} {
		if got, err := c.box.Open(c.sealed, c.context); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("%s: opened %q, %v", name, got, err)
		}
	}
}

func TestTheSameDataIsNeverSealedAlike(t *testing.T) {
	b := open(t, "secret", "", "purpose")
	if first, second := b.Seal([]byte("data"), ""), b.Seal([]byte("data"), ""); bytes.Equal(first, second) {
		t.Errorf("sealed %x twice", first)
	}
}

func TestOnlyDerivedKeysAreTaken(t *testing.T) {
	if _, err := seal.New([]byte("short")); err == nil {
		t.Error("a key of 5 bytes was taken")
	}
}

func TestRotationOfTheSecret(t *testing.T) {
	before, after := []byte("before"), []byte("after")
	box := func(versions ...[]byte) *seal.Box {
		t.Helper()
		secret := seal.Secret(func(context.Context) ([][]byte, error) { return versions, nil })
		keys, err := secret.Keys(t.Context(), []byte("salt"), "purpose")
		if err != nil {
			t.Fatal(err)
		}
		b, err := seal.New(keys...)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	old := box(before).Seal([]byte("data"), "owner")
	if got, err := box(after, before).Open(old, "owner"); err != nil || string(got) != "data" {
		t.Errorf("sealed by the version before: opened %q, %v", got, err)
	}
	if _, err := box(after).Open(old, "owner"); !errors.Is(err, seal.ErrOpen) {
		t.Errorf("sealed by a version that is gone: %v", err)
	}
	if got, err := open(t, "after", "salt", "purpose").Open(box(after, before).Seal([]byte("data"), "owner"),
		"owner"); err != nil || string(got) != "data" {
		t.Errorf("not sealed by the current version: %q, %v", got, err)
	}
}

func TestAnUnreadableSecretIsAnError(t *testing.T) {
	unreachable := errors.New("unreachable")
	secret := seal.Secret(func(context.Context) ([][]byte, error) { return nil, unreachable })
	if _, err := secret.Keys(t.Context(), nil, "purpose"); !errors.Is(err, unreachable) {
		t.Errorf("%v", err)
	}
	if _, err := seal.New(); err == nil {
		t.Error("a box without a key was made")
	}
}
