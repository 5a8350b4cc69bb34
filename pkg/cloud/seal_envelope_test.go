package cloud_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sealtest"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/seal"
)

// service counts the calls of a key service, and fails while err is set.
type service struct {
	sealtest.Keys
	calls []string
	err   error
}

func (s *service) Generate(ctx context.Context, account string) (key, wrapped []byte, err error) {
	s.calls = append(s.calls, "generate "+account)
	if s.err != nil {
		return nil, nil, s.err
	}
	return s.Keys.Generate(ctx, account)
}

func (s *service) Unwrap(ctx context.Context, account string, wrapped []byte) ([]byte, error) {
	s.calls = append(s.calls, "unwrap "+account)
	if s.err != nil {
		return nil, s.err
	}
	return s.Keys.Unwrap(ctx, account, wrapped)
}

func TestAnEnvelopeOpensForItsAccountAndContextOnly(t *testing.T) {
	sealed, err := sealtest.Envelope("key").Seal(t.Context(), "acc_1", []byte("whsec_1234567890"), "whk_1")
	if err != nil || bytes.Contains(sealed, []byte("whsec_")) {
		t.Fatalf("sealed %q, %v", sealed, err)
	}
	if got, err := sealtest.Envelope("key").Open(t.Context(), "acc_1", sealed, "whk_1"); err != nil ||
		string(got) != "whsec_1234567890" {
		t.Errorf("opened %q, %v", got, err)
	}
	damaged := func(at int) []byte {
		b := bytes.Clone(sealed)
		b[at] ^= 1
		return b
	}
	for name, c := range map[string]struct {
		key, account, context string
		sealed                []byte
	}{
		"another key": {"other", "acc_1", "whk_1", sealed}, "another account": {"key", "acc_2", "whk_1", sealed},
		"another context": {"key", "acc_1", "whk_2", sealed},
		"another version": {"key", "acc_1", "whk_1", damaged(0)}, "another length": {"key", "acc_1", "whk_1",
			damaged(1)}, "another wrapped key": {"key", "acc_1", "whk_1", damaged(5)},
		"damaged": {"key", "acc_1", "whk_1", damaged(len(sealed) - 1)},
		"cut":     {"key", "acc_1", "whk_1", sealed[:10]}, "a header": {"key", "acc_1", "whk_1", sealed[:2]},
		"empty": {"key", "acc_1", "whk_1", nil},
	} {
		if got, err := sealtest.Envelope(c.key).Open(t.Context(), c.account, c.sealed, c.context); !errors.Is(err,
			seal.ErrOpen) {
			t.Errorf("%s: opened %q, %v", name, got, err)
		}
	}
}

func TestDataKeysAreKeptForAWhile(t *testing.T) {
	s, now := &service{Keys: "key"}, time.Unix(1_000_000, 0)
	e := seal.NewEnvelope(s, func() time.Time { return now })
	work := func(account string) {
		t.Helper()
		for range 3 {
			sealed, err := e.Seal(t.Context(), account, []byte("data"), "")
			if err != nil {
				t.Fatal(err)
			}
			if data, err := e.Open(t.Context(), account, sealed, ""); err != nil || string(data) != "data" {
				t.Fatalf("opened %q, %v", data, err)
			}
		}
	}
	work("acc_1")
	work("acc_2")
	now = now.Add(5*time.Minute - 1)
	work("acc_1")
	if want := []string{"generate acc_1", "unwrap acc_1", "generate acc_2",
		"unwrap acc_2"}; !slices.Equal(s.calls, want) {
		t.Errorf("the calls were %v, not %v", s.calls, want)
	}
	s.calls, now = nil, now.Add(1)
	work("acc_1")
	if want := []string{"generate acc_1", "unwrap acc_1"}; !slices.Equal(s.calls, want) {
		t.Errorf("after five minutes the calls were %v, not %v", s.calls, want)
	}
}

func TestTheKeysInMemoryAreBounded(t *testing.T) {
	s := &service{Keys: "key"}
	e := seal.NewEnvelope(s, time.Now)
	for i := range 1001 {
		if _, err := e.Seal(t.Context(), fmt.Sprint("acc_", i), nil, ""); err != nil {
			t.Fatal(err)
		}
	}
	s.calls = nil
	if _, err := e.Seal(t.Context(), "acc_0", nil, ""); err != nil || len(s.calls) != 1 {
		t.Errorf("the first of 1001 keys is still kept: %v, %v", s.calls, err)
	}
}

func TestWithoutTheKeyServiceNothingIsSealed(t *testing.T) {
	s := &service{Keys: "key", err: errors.New("connection reset")}
	e := seal.NewEnvelope(s, time.Now)
	sealed, err := sealtest.Envelope("key").Seal(t.Context(), "acc_1", []byte("data"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Seal(t.Context(), "acc_1", []byte("data"), ""); errs.CodeOf(err) != errs.ProviderUnavailable {
		t.Errorf("sealed: %v", err)
	}
	if _, err := e.Open(t.Context(), "acc_1", sealed, ""); errs.CodeOf(err) != errs.ProviderUnavailable ||
		errors.Is(err, seal.ErrOpen) {
		t.Errorf("opened: %v", err)
	}
	s.err = nil
	if data, err := e.Open(t.Context(), "acc_1", sealed, ""); err != nil || string(data) != "data" {
		t.Errorf("afterwards opened %q, %v", data, err)
	}
}
